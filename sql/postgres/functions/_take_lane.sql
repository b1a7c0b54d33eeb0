-- Locks one of so many lanes of a join: one that is free, beginning with this session's own, or else that.
create or replace function :"schema"._take_lane(p_join uuid, lanes int) returns smallint
language plpgsql volatile as $$
declare
    own constant int := pg_backend_pid() % lanes;
begin
    for i in 0 .. lanes - 1 loop
        if pg_try_advisory_xact_lock(:"schema"._lane_key(p_join, (own + i) % lanes + 1)) then
            return (own + i) % lanes + 1;
        end if;
    end loop;
    perform pg_advisory_xact_lock(:"schema"._lane_key(p_join, own + 1));
    return own + 1;
end $$;
