-- Has this transaction taken a lane of this join to count in? _lock_join writes it down, until the transaction ends
-- or is rolled back to before.
create or replace function :"schema"._has_lane(p_join uuid) returns boolean
language sql stable as $$
    select coalesce(p_join::text = any (string_to_array(current_setting('boxcar.lanes', true), ',')), false)
$$;
