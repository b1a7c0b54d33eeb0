-- This transaction has locked these messages for one reader: other readers need not wait for it (_holder). The rows tell which
-- transaction holds them, or which part of one, and nothing tells what it is about. So that is written where all see it at once and
-- without a commit: into one of sixteen sequences, by the number of the transaction. If another one has written there since, nobody
-- knows any more, and the messages count as held for all.
create or replace function :"schema"._note_holder(p_box smallint, ids bigint[]) returns void
language plpgsql volatile as $$
declare
    holder xid8;
begin
    if pg_sequence_last_value(':"schema".reader_number') is null then
        return;   -- there is one reader
    end if;
    select :"schema"._full_xid(m.xmax) into holder from :"schema".message m where m.work_id = any (ids) and m.xmax <> 0
    order by m.work_id desc limit 1;
    perform setval(format('%I.%I', :'schema', 'holder_' || holder::text::bigint % 16)::regclass, (holder::text::bigint << 16) | p_box);
end $$;
