-- Wakes the sleepers of a box, when and if the transaction commits. Callers ask first whether there is one
-- who would want the message: a notification makes commits queue up. A transaction that wakes often sends
-- one notification.
create or replace function :"schema"._wake(p_box smallint) returns void
language plpgsql volatile :pinned as $$
begin
    perform pg_notify(:"schema"._channel(), p_box::text);
end $$;
