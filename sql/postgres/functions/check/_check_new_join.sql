-- The rules for a new join (core/limits/join.c has the same for C callers).
create or replace function :"schema"._check_new_join(
    expected_steps int, grouping_key text, metadata text, deadline timestamptz)
returns void language plpgsql stable :pinned as $$
begin
    if expected_steps is null or expected_steps < 1 then
        perform :"schema"._invalid('expected_steps', 'is out of range: give 1 to 2147483647');
    end if;
    if char_length(grouping_key) > :grouping_key_max then
        perform :"schema"._invalid('grouping_key', 'is longer than :grouping_key_max characters');
    end if;
    if not (deadline >= '1970-01-01Z' and deadline < '10000-01-01Z') then
        perform :"schema"._invalid('deadline', 'is out of range: give a time from 1970 to 9999');
    end if;
    if octet_length(metadata) > :payload_always then
        perform :"schema"._fits('metadata', octet_length(metadata), 'payload_bytes_max', 67108864);
    end if;
end $$;
