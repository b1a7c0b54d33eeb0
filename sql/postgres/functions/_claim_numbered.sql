-- The claim: what may wait for locks comes before the turn (_before_claim), the rest under it (_claim_items).
--
-- flags in the trailing row with work_id 0 (absent when there is nothing to say): 1 = expired
-- messages were parked, call _bury_expired; 2 = nothing found yet but the log goes on, call again; 4 = the turn did not
-- come in time, so that fresh messages were not looked at.
--
-- suspects false: none of those is handed out. The claimer is trying one already, and if that one kills
-- it, no other should be charged.
-- durable false: the commit need not reach the disk (the library's claims: a claim lost in a crash
-- is as good as one never made, since epochs follow the clock and are not given out twice). Such a claim waits for no
-- lock longer than two seconds: it fails then and gives the turn back, while the library would stop listening and leave
-- a session behind that keeps the turn.
-- p_number: chosen by the claimer. If the answer does not reach it, it can give back what it was leased (_give_back_claim).
-- has_waited: the caller has called _before_claims.
create or replace function :"schema"._claim_numbered(
    p_box smallint, p_owner uuid, lease interval, wanted int, exact text[], prefixes text[], durable boolean,
    suspects boolean, p_number bigint, has_waited boolean)
returns setof :"schema".claimed_message language plpgsql volatile security definer :hot as $$
declare
    got record;
    note :"schema".claimed_message;
begin
    if not durable then
        perform set_config('synchronous_commit', 'off', true);
        perform set_config('lock_timeout', '2s', true);
    end if;
    perform :"schema"._sign_of_life(p_owner);
    if not has_waited then
        perform :"schema"._before_claim(p_box);
    end if;
    got := :"schema"._claim_items(p_box, p_owner, lease, wanted, exact, prefixes, suspects, p_number);
    if got.items is not null then
        return query select * from :"schema"._claimed_rows(p_box, got.items, got.has_parked, got.epoch, p_owner, got.until);
    end if;
    if got.flags > 0 then
        note.work_id := 0;
        note.epoch := got.flags;
        return next note;
    end if;
end $$;
