-- Whether a parked message seems to be as it was enqueued: then its available_at may only say when a claimer met it, and
-- _waits_since knows more. Without a subquery, so that the planner can put it in place.
create or replace function :"schema"._is_untried(p :"schema".parked) returns boolean
language sql immutable as $$
    select p.retry_count = 0 and p.crash_count = 0 and p.last_error is null
$$;
