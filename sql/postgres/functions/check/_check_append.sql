-- The rules for the stream and the expected version of an append.
create or replace function :"schema"._check_append(stream text, expected_version bigint) returns void
language plpgsql immutable :pinned as $$
begin
    if coalesce(stream, '') = '' then
        perform :"schema"._invalid('stream', 'is empty: give 1 to :stream_max characters');
    elsif char_length(stream) > :stream_max then
        perform :"schema"._invalid('stream', 'is longer than :stream_max characters');
    elsif stream = '00000000-0000-0000-0000-000000000000' then
        perform :"schema"._invalid('stream', 'is the nil UUID');
    end if;
    if expected_version < 0 then
        perform :"schema"._invalid('expected_version',
            'is negative: give the version the stream must have, 0 for a new one, or null for any');
    end if;
end $$;
