-- Streams with messages and without a row in `stream`: claimers have met none of the messages. By key: from first_key
-- to last_key, behind p_after, at most `wanted`. low: see _unmet_from. Takes no turn.
--
-- Two ways lead to them. By arrival, as claimers come: the cost grows with the number of unmet messages. By key: this
-- costs a look for each stream, and finished streams are in the way until they are purged. If few messages are unmet,
-- the first way has found all of their streams. Otherwise the second way has a page soon, unless hundreds of finished
-- streams lie between. Then this takes the way that probably costs less: a message that the index passes over costs a
-- sixteenth of one that is read.
create or replace function :"schema"._unmet_streams(
    f :"schema".frontier, low bigint, first_key text, p_after text, last_key text, wanted int)
returns text[] language plpgsql stable as $$
declare
    keys text[] := :"schema"._unmet_by_arrival(f, first_key, p_after, last_key, wanted, 500);
    unmet bigint;   -- there are no more
begin
    if keys is null then
        keys := :"schema"._unmet_by_key(f, low, first_key, p_after, last_key, wanted, 2 * wanted + 200);
    end if;
    if keys is null then
        unmet := pg_sequence_last_value(':"schema".message_work_id_seq') - low;
        if 16 * unmet < (select c.reltuples from pg_class c where c.oid = ':"schema".message_stream'::regclass) then
            keys := :"schema"._unmet_by_arrival(f, first_key, p_after, last_key, wanted, null);
        else
            keys := :"schema"._unmet_by_key(f, low, first_key, p_after, last_key, wanted, null);
        end if;
    end if;
    return keys;
end $$;
