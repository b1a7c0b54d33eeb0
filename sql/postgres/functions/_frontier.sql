-- The newest frontier row of a lane.
create or replace function :"schema"._frontier(p_box smallint, p_lane smallint) returns :"schema".frontier
language plpgsql stable :hot as $$
declare
    f :"schema".frontier;
begin
    select * into strict f from :"schema".frontier x where x.box = p_box and x.lane = p_lane
    order by x.seq desc limit 1;
    return f;
end $$;
