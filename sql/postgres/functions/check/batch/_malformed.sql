-- The text of the fault of a value that cannot be read, by the name of its field.
create or replace function :"schema"._malformed(field text) returns text
language sql immutable as $$
    select 'is malformed: give ' || case
        when field = 'due_at' then 'a time such as 2030-01-31T12:00:00Z'
        when field in ('ttl', 'delay') then 'an interval such as 1 hour'
        when field = 'max_attempts' then 'a whole number from 1 to :max_attempts_max'
        when field in ('unique', 'is_event') then 'true or false'
        when field = 'epoch' then 'that of the claim, or 0 for any'
        else 'a UUID' end
$$;
