-- The caller holds the row of a join; after this, no transaction counts in its lanes either. A transaction of higher
-- isolation would not see what others counted there since it began: it fails here, and may be tried again.
create or replace function :"schema"._lock_lanes(p_join uuid) returns void
language plpgsql volatile as $$
declare
    last_lane constant int := (select j.last_lane from :"schema".join_row j where j.join_id = p_join);
begin
    if last_lane > 0 then
        perform from generate_series(0, last_lane) l(lane) cross join lateral (
            select from :"schema".join_progress p where p.join_id = p_join and p.lane = l.lane
            order by p.seq desc limit 1 for no key update) p;
    end if;
end $$;
