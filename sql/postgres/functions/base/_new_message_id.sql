-- A UUIDv7 (RFC 9562): 48 bits of milliseconds in front of random bits.
create or replace function :"schema"._new_message_id() returns uuid
language plpgsql volatile :pinned as $$
declare
    bytes bytea := uuid_send(gen_random_uuid());
begin
    bytes := overlay(bytes placing
        substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6);
    return encode(set_byte(bytes, 6, (get_byte(bytes, 6) & 15) | 112), 'hex')::uuid;
end $$;
