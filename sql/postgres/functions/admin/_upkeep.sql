-- How many seconds ago upkeep ran last. If it never ran (has_run false): for how many seconds that has been so.
create or replace function :"schema"._upkeep(out has_run boolean, out seconds double precision)
language plpgsql stable security definer :pinned as $$
begin
    select u.ran_at is not null,
           greatest(extract(epoch from clock_timestamp() - coalesce(u.ran_at, u.since)), 0)
    into has_run, seconds from :"schema".upkeep u;
end $$;
