-- _claim without what comes before the turn: the caller has called _before_claims.
create or replace function :"schema"._claim_after(
    p_box smallint, p_owner uuid, lease interval, wanted int, exact text[], prefixes text[], durable boolean,
    suspects boolean)
returns setof :"schema".claimed_message language plpgsql volatile security definer :hot as $$
declare
    got record;
    note :"schema".claimed_message;
begin
    perform :"schema"._sign_of_life(p_owner);
    if not durable then
        perform set_config('synchronous_commit', 'off', true);
    end if;
    got := :"schema"._claim_items(p_box, p_owner, lease, wanted, exact, prefixes, suspects);
    if got.items is not null then
        return query select * from :"schema"._claimed_rows(p_box, got.items, got.has_parked, got.epoch, p_owner, got.until);
    end if;
    if got.flags > 0 then
        note.work_id := 0;
        note.epoch := got.flags;
        return next note;
    end if;
end $$;
