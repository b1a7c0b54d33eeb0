-- _frontier for functions that read whole tables. _frontier has the settings of its caller and keeps its plans, and its
-- next caller in the session may be a claim, which must not scan anything.
create or replace function :"schema"._newest_frontier(p_box smallint, p_lane smallint) returns :"schema".frontier
language plpgsql stable :hot as $$
begin
    return :"schema"._frontier(p_box, p_lane);
end $$;
