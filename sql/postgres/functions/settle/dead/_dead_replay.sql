-- Replays the chosen dead letters: they are ready again as if new, and on record (BX-004). Returns how many. A dead
-- letter whose unique key a newer message has taken stays dead: BX003 if it was named, else it is passed over.
create or replace function :"schema"._dead_replay(p_box smallint, ids bigint[], note text, named boolean default true)
returns bigint language plpgsql volatile :pinned as $$
declare
    ts timestamptz;
    keyed record;
    holders uuid[];
    lost bigint[];
    risen bigint[];
    errors text[];
begin
    -- They take their unique keys back now. Of several with one key the newest gets it.
    select array_agg(m.work_id order by m.work_id desc) as ids, array_agg(m.message_id order by m.work_id desc) as messages,
           array_agg(m.unique_key order by m.work_id desc) as keys
    into keyed from :"schema".message m
    where m.work_id = any (ids) and m.unique_key is not null
      and p_box < 2 and exists (select from :"schema".dead d where d.work_id = m.work_id and d.box = p_box);
    if keyed.ids is not null then
        holders := :"schema"._take_keys(keyed.keys, keyed.messages);
        lost := array(select k.id from unnest(keyed.ids, keyed.messages, holders) k(id, message, holder)
                      where k.message <> k.holder);
        if named and lost <> '{}' then
            raise exception using errcode = 'BX003',
                message = format('message %s cannot be replayed: its unique key belongs to a newer message', lost[1]),
                hint = 'Replay it once that message has ended, or enqueue it anew.';
        end if;
        ids := array(select i from unnest(ids) i where i <> all (lost));
    end if;
    with locked as (
        select d.work_id from :"schema".dead d where d.box = p_box and d.work_id = any (ids)
        order by d.work_id for update),
    gone as (
        delete from :"schema".dead d using locked l where d.work_id = l.work_id and d.box = p_box returning d.work_id, d.last_error)
    select array_agg(g.work_id), array_agg(g.last_error) into risen, errors from gone g;
    if risen is null then
        return 0;
    end if;
    ts := clock_timestamp();   -- not before the death that is undone
    insert into :"schema".attempt (work_id, at, retry_count, outcome, error, reader)
    select i, ts, 0, 'replayed', :"schema"._cap_error(note), case when p_box > 1 then p_box else 0 end from unnest(risen) i;
    perform :"schema"._unbury(p_box, risen, false, ts);
    update :"schema".parked p set last_error = i.error from unnest(risen, errors) i(id, error)
    where p.work_id = i.id and p.box = p_box;
    return cardinality(risen);
end $$;
