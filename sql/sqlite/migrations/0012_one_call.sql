-- What one call may say of a message: what caused it, metadata, and that it is an event.

-- causation_id: the message or call that caused this one. metadata: a JSON object of the caller. event_type: the message is
-- an event of its stream, stored with it. Null in most messages. They lie behind the payload; reading a null costs nothing.
alter table boxcar_message add column causation_id text;
alter table boxcar_message add column event_type text;
alter table boxcar_message add column metadata text;
alter table boxcar_event_row add column causation_id text;

-- The joins of a message.
create index boxcar_join_member_message on boxcar_join_member (message_id);
