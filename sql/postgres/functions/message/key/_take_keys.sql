-- Takes keys that are unique while their message is unfinished, for messages that are about to be stored or replayed:
-- arrays that go together by position, null where there is no key. Returns the message that has each key now: the given
-- one, or the unfinished one that had it before. Of several messages with one key the first gets it. May be called
-- again in the same transaction, also with other ids: a key whose message was never stored is free.
--
-- One statement locks all keys, in their order, before any other lock. A caller that meets the key of an open
-- transaction waits for its end, as at a unique index: then that message has the key, or the key is free. A key that is
-- there is locked and not changed (the where); the second statement sees how its message ended meanwhile.
create or replace function :"schema"._take_keys(keys uuid[], ids uuid[]) returns uuid[]
language plpgsql volatile :hot set enable_hashjoin = on as $$
declare
    known_keys uuid[];
    known_ids uuid[];
begin
    with wanted as materialized (
        select distinct on (w.key) w.key, w.id from unnest(keys, ids) with ordinality w(key, id, n)
        where w.key is not null order by w.key, w.n),
    taken as (
        insert into :"schema".unique_key as k (key_id, message_id)
        select w.key, w.id from wanted w order by w.key
        on conflict (key_id) do update set message_id = excluded.message_id where false
        returning k.key_id)
    select array_agg(w.key), array_agg(w.id) into known_keys, known_ids
    from wanted w where not exists (select from taken t where t.key_id = w.key);
    if known_keys is not null then
        update :"schema".unique_key k set message_id = w.id
        from unnest(known_keys, known_ids) w(key, id)
        where k.key_id = w.key and k.message_id <> w.id and not :"schema"._has_key(k.message_id, k.key_id);
    end if;
    return array(
        select coalesce(k.message_id, w.id) from unnest(keys, ids) with ordinality w(key, id, n)
        left join lateral (
            select k.message_id from :"schema".unique_key k where k.key_id = w.key limit 1) k on true
        order by w.n);
end $$;
