-- Starts a join that ends when expected_steps steps have ended. Returns its id. Starting an id that exists changes
-- nothing.
create or replace function :"schema".join_start(
    expected_steps int, grouping_key text default null, metadata text default null,
    deadline timestamptz default null, join_id uuid default null)
returns uuid language plpgsql volatile security definer :hot as $$
declare
    id uuid := coalesce(join_id, :"schema"._new_message_id());
begin
    perform :"schema"._join_start(id, expected_steps, grouping_key, metadata, deadline, 0);
    return id;
end $$;
