-- A UUIDv7 (RFC 9562): 48 bits of milliseconds in front of random bits. Without settings of its own, so that it becomes
-- a part of the statement that calls it.
create or replace function :"schema"._new_message_id() returns uuid
language sql volatile as $$
    select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) placing substring(
        int8send((date_part('epoch', clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid
$$;
