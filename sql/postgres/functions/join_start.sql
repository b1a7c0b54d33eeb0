-- Starts a join that ends when so many steps have ended. Returns its id. Starting an id that exists changes
-- nothing.
create or replace function :"schema".join_start(
    expected_steps int, grouping_key text default null, metadata text default null,
    deadline timestamptz default null, join_id uuid default null)
returns uuid language plpgsql volatile security definer :hot as $$
declare
    id uuid := coalesce(join_id, :"schema"._new_message_id());
begin
    if expected_steps is null or expected_steps < 1 then
        perform :"schema"._invalid('expected_steps', 'is out of range: give 1 to 2147483647');
    end if;
    if char_length(grouping_key) > 255 then
        perform :"schema"._invalid('grouping_key', 'is longer than 255 characters');
    end if;
    if not (deadline >= '1970-01-01Z' and deadline < '10000-01-01Z') then
        perform :"schema"._invalid('deadline', 'is out of range: give a time from 1970 to 9999');
    end if;
    perform :"schema"._check_join(id, null, null);
    perform :"schema"._join_start(id, expected_steps, grouping_key, metadata, deadline, 0);
    return id;
end $$;
