-- The caller holds the row of a join; now nobody counts in its lanes either. A transaction of higher isolation
-- would not see what others counted there since it began: it fails here, and may be tried again.
create or replace function :"schema"._lock_lanes(p_join uuid) returns void
language plpgsql volatile as $$
declare
    last_lane constant int := (select j.last_lane from :"schema".join_row j where j.join_id = p_join);
begin
    for lane in 1 .. coalesce(last_lane, 0) loop
        perform pg_advisory_xact_lock(:"schema"._lane_key(p_join, lane));
    end loop;
    if last_lane > 0 and current_setting('transaction_isolation') <> 'read committed' then
        perform from :"schema".join_progress p where p.join_id = p_join for no key update;
    end if;
end $$;
