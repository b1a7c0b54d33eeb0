-- Runs at the end of a transaction that has claimed, or that woke a worker on a server that has prepared transactions.
--
-- A prepared transaction may not have notified, so it wakes no sleeper: polling finds its messages. A transaction that
-- has claimed cannot be prepared at all: it would keep its messages, or the claimers' turn, until an operator ends it,
-- maybe days later. Only the text of the statement tells the two ends of a transaction apart. PREPARE TRANSACTION comes
-- first in it, or after a semicolon. There may be comments before its words and between them, and they may be nested:
-- the expression passes over everything between the first begin and the last end of a comment.
create or replace function :"schema"._at_end() returns trigger
language plpgsql volatile security definer :pinned as $$
declare
    is_prepared constant boolean := coalesce(
        current_setting('max_prepared_transactions') <> '0' and current_query() ~*
            '(^|;)(\s|--[^\r\n]*[\r\n]|/\*.*\*/)*prepare(\s|--[^\r\n]*[\r\n]|/\*.*\*/)+transaction\M', false);
begin
    if new.box = -1 then   -- written on trial (_is_ending)
        raise exception using errcode = 'BX097';
    elsif not :"schema"._is_ending(new.noted_at) then
        set constraints :"schema".end_note_at_end deferred;
        perform :"schema"._note_end(new.box, new.has_turn, new.places, new.items);
        return null;
    end if;
    if new.has_turn and is_prepared then
        raise exception using errcode = 'BX004',
            message = 'this transaction has claimed, cancelled or replayed messages and cannot be prepared: others would wait '
                'for them, or for the turn, until the prepared transaction ends',
            hint = 'Claim, cancel and replay in transactions of their own; enqueue and settle in the one to be prepared.';
    elsif new.items is not null then
        perform :"schema"._leave_pool(new.box, new.places, new.items);
    elsif new.places = '{}' or new.places[1] = -1 then
        -- After all notes that wait for rows of the pool: there may be more of those.
        perform :"schema"._note_end(new.box, true, 0 || new.places[2:]);
    elsif new.places[1] = 0 then
        begin
            if new.places = '{0}' then
                perform :"schema"._tend(new.box);
            else
                perform :"schema"._set_aside(new.box, new.places[2:]);
            end if;
        exception when others then   -- no error here may make the caller's transaction fail
            perform :"schema"._warn_of_trouble('what a claim left to do was not done', 'box ' || new.box, sqlstate);
        end;
    elsif not new.has_turn and not is_prepared then
        perform pg_notify(:"schema"._channel(), new.box::text);
    end if;
    return null;
end $$;
