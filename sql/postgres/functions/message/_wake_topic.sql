-- Wakes the sleepers of a box if one of them wants this topic. Callers have seen by sleeper_flag that there may be one.
create or replace function :"schema"._wake_topic(p_box smallint, p_topic text) returns void
language plpgsql volatile :hot as $$
begin
    perform :"schema"._wake(p_box) where exists (
        select from :"schema".sleeper s
        where s.until > clock_timestamp() and s.box = p_box and :"schema"._wanted(p_topic, s.exact, s.prefixes));
end $$;
