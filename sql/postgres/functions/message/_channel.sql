-- The channel on which the sleepers of this store are woken. It is named after the table, since a schema's name may be
-- too long for a channel.
create or replace function :"schema"._channel() returns text
language plpgsql stable :pinned as $$
begin
    return 'boxcar_' || ':"schema".sleeper'::regclass::oid;
end $$;
