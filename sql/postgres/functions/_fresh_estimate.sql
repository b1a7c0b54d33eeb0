-- About how many messages lie beyond the frontier: the distance from its position to the newest.
create or replace function :"schema"._fresh_estimate(p_box smallint) returns double precision
language plpgsql stable :hot as $$
begin
    return coalesce((select max(m.work_id) from :"schema".message m)
                    - (select min(m.work_id) from :"schema"._window(:"schema"._frontier(p_box, 0::smallint), 1) m),
                    (select max(m.work_id) from :"schema".message m), 0);
end $$;
