-- Locks a join, to count p_steps steps in it (null: for any other change), and returns the lane. Lane 0 is the whole
-- join, with its row and every lane: a transaction that has it may end the join. The other lanes of a large join are
-- for counting while its end is far; there no transaction waits for another one. A lane is locked by its row of
-- counters: only Boxcar's functions can do that.
create or replace function :"schema"._lock_join(p_join uuid, p_steps bigint) returns smallint
language plpgsql volatile as $$
declare
    lanes constant int := case when p_steps is null then 0 else coalesce((
        select j.last_lane from :"schema".join_row j where j.join_id = p_join), 0) end;
    own constant int := pg_backend_pid() % nullif(lanes, 0) + 1;   -- this session's lane
    taken int;
begin
    if lanes > 0 then
        begin
            -- A lane that is free, beginning with this session's own; if there is none, its own.
            for i in 0 .. lanes - 1 loop
                perform from :"schema".join_progress p where p.join_id = p_join and p.lane = (own - 1 + i) % lanes + 1
                order by p.seq desc limit 1 for no key update skip locked;
                if found then
                    taken := (own - 1 + i) % lanes + 1;
                    exit;
                end if;
            end loop;
            if taken is null then
                perform from :"schema".join_progress p where p.join_id = p_join and p.lane = own
                order by p.seq desc limit 1 for no key update;
                taken := own;
            end if;
            -- Only as long as neither this transaction nor those in the other lanes, whose steps it cannot see, can
            -- reach the join's end or go beyond it: each counts at most 2,000 steps. A transaction that has a lane was
            -- allowed for when it took it, and may stay: if it asked for the whole join now, it would wait for others
            -- that do the same.
            if not exists (
                select from (select * from :"schema".join_row j where j.join_id = p_join limit 1) j
                cross join lateral (
                    select sum(p.completed_steps + p.failed_steps) as steps,
                           coalesce(sum(p.xid_steps) filter (where p.xid = pg_current_xact_id_if_assigned()), 0) as ours,
                           coalesce(bool_or(p.xid = pg_current_xact_id_if_assigned()) filter (where l.lane > 0), false) as has_lane
                    from generate_series(0, j.last_lane) l(lane) cross join lateral (
                        select p.completed_steps, p.failed_steps, p.xid, p.xid_steps from :"schema".join_progress p
                        where p.join_id = j.join_id and p.lane = l.lane order by p.seq desc limit 1) p) c
                where j.last_lane > 0 and j.status = 0 and coalesce(j.deadline > clock_timestamp(), true)
                  and c.ours + p_steps <= 2000
                  and (j.expected_steps - c.steps > j.last_lane * 2000 or c.has_lane)
                  and current_setting('transaction_isolation') = 'read committed') then
                raise exception using errcode = 'BX099';   -- the lane is given back
            end if;
            update :"schema".join_progress p set xid = pg_current_xact_id(), xid_steps = 0   -- has_lane
            where p.join_id = p_join and p.lane = taken and p.xid is distinct from pg_current_xact_id();
            return taken;
        exception when sqlstate 'BX099' then
            null;
        end;
    end if;
    perform from :"schema".join_row j where j.join_id = p_join for no key update;
    perform :"schema"._lock_lanes(p_join);
    return 0;
end $$;
