-- Locks one of so many lanes of a join: one that is free, beginning with this session's own, or else that. A lane is
-- locked by its row of counters: only our functions can do that.
create or replace function :"schema"._take_lane(p_join uuid, lanes int) returns smallint
language plpgsql volatile as $$
declare
    own constant int := pg_backend_pid() % lanes;
begin
    for i in 0 .. lanes - 1 loop
        perform from :"schema".join_progress p where p.join_id = p_join and p.lane = (own + i) % lanes + 1
        order by p.seq desc limit 1 for no key update skip locked;
        if found then
            return (own + i) % lanes + 1;
        end if;
    end loop;
    perform from :"schema".join_progress p where p.join_id = p_join and p.lane = own + 1
    order by p.seq desc limit 1 for no key update;
    return own + 1;
end $$;
