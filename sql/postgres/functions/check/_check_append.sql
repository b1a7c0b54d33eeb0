-- The rules for the stream and the expected version of an append.
create or replace function :"schema"._check_append(stream text, expected_version bigint) returns void
language plpgsql immutable :pinned as $$
declare
    fault constant text[] := case
        when coalesce(stream, '') = '' then array['stream', 'is empty: give 1 to :stream_max characters']
        when char_length(stream) > :stream_max then array['stream', 'is longer than :stream_max characters']
        when stream = '00000000-0000-0000-0000-000000000000' then array['stream', 'is the nil UUID']
        when expected_version < 0 then array['expected_version',
            'is negative: give the version the stream must have, 0 for a new one, or null for any'] end;
begin
    if fault is not null then
        perform :"schema"._invalid(fault[1], fault[2]);
    end if;
end $$;
