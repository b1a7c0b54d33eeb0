-- When schedules have to be looked at again at the latest; null: none runs. A slice that is open now cannot be followed by another one
-- before the cadence of its schedule is over.
create or replace function :"schema"._next_plan(ts timestamptz) returns timestamptz
language plpgsql stable :hot as $$
begin
    return least(
        (select min(x.due_at) from :"schema".schedule_shard x where x.runs and x.due_at is not null),
        ts + make_interval(secs => (
            select min(s.every_ms) from :"schema".schedule_row s
            where s.id in (select x.id from :"schema".schedule_shard x where x.runs and x.due_at is null)) / 1000.0));
end $$;
