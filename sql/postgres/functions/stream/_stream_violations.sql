-- How many messages were acked before an earlier one of their stream was finished.
create or replace function :"schema"._stream_violations() returns bigint
language sql stable security definer :pinned as $$
    select count(*) from :"schema".stream_violation v
$$;
