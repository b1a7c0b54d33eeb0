-- At the end of a transaction that has claimed, or that woke somebody on a server that has prepared transactions.
--
-- A prepared transaction may not have notified, so sleepers are not woken by it: polling finds its messages. One that has
-- claimed is not prepared at all: it would keep its messages, or the claimers' turn, until somebody ends it, maybe days
-- later. Only the text of the statement tells the two ends of a transaction apart. It comes first, or after a semicolon. Before its
-- words and between them there may be comments, which may be nested: whatever lies between the first begin and the last end of one
-- is passed over.
create or replace function :"schema"._at_end() returns trigger
language plpgsql volatile security definer :pinned as $$
declare
    is_prepared constant boolean := coalesce(
        current_setting('max_prepared_transactions') <> '0' and current_query() ~*
            '(^|;)(\s|--[^\r\n]*[\r\n]|/\*.*\*/)*prepare(\s|--[^\r\n]*[\r\n]|/\*.*\*/)+transaction\M', false);
begin
    if new.box = -1 then   -- one on trial
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
        -- After everything that waits for rows of the pool: there may be more of that.
        perform :"schema"._note_end(new.box, true, 0 || new.places[2:]);
    elsif new.places[1] = 0 then
        begin
            if new.places = '{0}' then
                perform :"schema"._tend(new.box);
            else
                perform :"schema"._set_aside(new.box, new.places[2:]);
            end if;
        exception when others then   -- whatever it is, it is no reason why the caller's transaction should fail
            perform :"schema"._warn_of_trouble('what a claim left to do was not done', 'box ' || new.box, sqlstate);
        end;
    elsif not new.has_turn and not is_prepared then
        perform pg_notify(:"schema"._channel(), new.box::text);
    end if;
    return null;
end $$;
