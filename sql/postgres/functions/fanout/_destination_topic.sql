-- The topic that a destination has, with its placeholders; null: that of the message.
create or replace function :"schema"._destination_topic(destination text) returns text
language plpgsql immutable :pinned as $$
declare
    place constant text := substring(destination from '^store:[^/]*(?:/inbox(?=/|$))?');   -- what comes before /TOPIC
begin
    return case
        when destination like 'tenant:%' or destination = place then null
        when place is not null then substr(destination, length(place) + 2)
        else destination end;
end $$;
