-- One small step of upkeep of a box: reap, expire, fold, purge, joins, each bounded. It also removes instances that
-- were silent for long, and naps and signs of life that are over. The caller repeats it, a transaction each, while more
-- is true. The caller also calls _expire_fresh for each lane, which takes the claimers' turn and so needs a transaction
-- of its own.
create or replace function :"schema"._maintain(
    p_box smallint, out reaped bigint, out expired bigint, out purged_done bigint, out purged_dead bigint,
    out more boolean, out settled bigint, out timed_out bigint, out purged_joins bigint,
    out ended uuid[], out purged_keys bigint)
language plpgsql volatile security definer :hot as $$
declare
    ts timestamptz := clock_timestamp();
    folded bigint;
    forgotten bigint;
    joins record;
    most constant int := 2000;
begin
    perform :"schema"._remove_stale();
    delete from :"schema".instance_sign s
    where s.ctid = any (array(
        select x.ctid from :"schema".instance_sign x
        where exists (select from :"schema".instance_sign y where y.instance_id = x.instance_id and y.seen_at > x.seen_at)
        limit most for update skip locked));
    if p_box = 0 then
        perform :"schema"._sort_waits(most);
    end if;
    reaped := :"schema"._try_expire_leases(p_box, '-infinity', 50);
    expired := :"schema"._try_bury_expired(p_box, most);
    -- One at a time: both change the counters of several topics and what was appended to them. If another upkeep is at
    -- it, that one does the work.
    folded := 0;
    purged_done := 0;
    if :"schema"._upkeep_turn(p_box) then
        folded := :"schema"._fold_tally(p_box, most);
        purged_done := :"schema"._purge_done(p_box, most);
        if p_box = 0 then   -- each round begins with it; no other upkeep has the turn, so none waits for this row
            update :"schema".upkeep u set ran_at = ts
            where u.ran_at is null or u.ran_at not between ts - interval '10 seconds' and ts;
        end if;
    end if;
    purged_dead := :"schema"._purge_dead(p_box, most);
    forgotten := :"schema"._purge_violations(p_box, most);
    purged_keys := case p_box when 1 then :"schema"._purge_keys(most) else 0 end;
    delete from :"schema".sleeper p
    where p.ctid = any (array(select s.ctid from :"schema".sleeper s where s.until <= ts
                              order by s.until limit most for update skip locked));
    -- Last, because joins stay locked until the commit.
    select * into joins from :"schema"._maintain_joins();
    settled := joins.settled;
    timed_out := joins.timed_out;
    purged_joins := joins.purged;
    more := reaped > 0 or expired >= most or folded >= most or purged_done >= most or purged_dead >= most
        or purged_keys >= most or forgotten >= most or joins.more;
    ended := array(select e.join_id from :"schema"._joins_ended() e);
end $$;
