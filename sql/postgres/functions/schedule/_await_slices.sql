-- Enqueues the wait for a join of slices: when it has ended, then_topic or else_topic of the schedule follows.
create or replace function :"schema"._await_slices(p_join uuid, s :"schema".schedule_row, p_slices int) returns void
language plpgsql volatile :pinned as $$
declare
    payload constant text := format('{"topic": %s, "work_key": %s, "slices": %s}', to_json(s.topic), to_json(s.work_key), p_slices);
begin
    perform :"schema".join_wait(p_join, true, s.then_topic, payload, s.else_topic, case when s.else_topic is not null then payload end);
end $$;
