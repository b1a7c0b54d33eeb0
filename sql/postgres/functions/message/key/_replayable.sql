-- The chosen dead letters that may be replayed: they have no unique key, or take it back now. Of several with one key
-- the newest may. BX003 when a dead letter that was named has lost its key to a newer message.
create or replace function :"schema"._replayable(ids bigint[], named boolean) returns bigint[]
language plpgsql volatile :pinned as $$
declare
    keyed record;
    holders uuid[];
    lost bigint[];
begin
    select array_agg(m.work_id order by m.work_id desc) as ids, array_agg(m.message_id order by m.work_id desc) as messages,
           array_agg(m.unique_key order by m.work_id desc) as keys
    into keyed from :"schema".message m
    where m.work_id = any (ids) and m.unique_key is not null
      and exists (select from :"schema".dead d where d.work_id = m.work_id);
    if keyed.ids is null then
        return ids;
    end if;
    holders := :"schema"._take_keys(keyed.keys, keyed.messages);
    lost := array(select k.id from unnest(keyed.ids, keyed.messages, holders) k(id, message, holder)
                  where k.message <> k.holder);
    if named and lost <> '{}' then
        raise exception using errcode = 'BX003',
            message = format('message %s cannot be replayed: its unique key belongs to a newer message', lost[1]),
            hint = 'Replay it once that message has ended, or enqueue it anew.';
    end if;
    return array(select i from unnest(ids) i where i <> all (lost));
end $$;
