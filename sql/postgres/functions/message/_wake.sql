-- Wakes the sleepers of a box, when and if the transaction commits. Callers ask first whether a sleeper wants the
-- message: a notification makes commits queue up. A transaction that wakes often sends one notification. A transaction
-- that has notified cannot be prepared: where that can happen, its end decides.
create or replace function :"schema"._wake(p_box smallint) returns void
language plpgsql volatile :pinned as $$
begin
    if current_setting('max_prepared_transactions') = '0' then
        perform pg_notify(:"schema"._channel(), p_box::text);
    else
        perform :"schema"._note_end(p_box, false);
    end if;
end $$;
