-- Removes those of these messages that every reader of their box has ended for longer than the retention of done messages, or did not
-- want, with all that is known of them. Returns how many. Only who has the turn of upkeep may: a rewind keeps it out, and two would
-- forget the same. A purge of dead letters that does not get it leaves them to upkeep.
create or replace function :"schema"._remove_ended(p_log smallint, ids bigint[]) returns bigint
language plpgsql volatile :hot set enable_hashjoin = on as $$
declare
    cutoff constant timestamptz := clock_timestamp() - make_interval(
        secs => :"schema"._setting('retention_done', 7 * 86400000.0) / 1000);
    readers smallint[];
    leased int8multirange;
    gone bigint[];
    busy bigint[];
    items int8multirange;
    keys uuid[];
    holders uuid[];
begin
    if ids = '{}' or not :"schema"._upkeep_turn(p_log) then
        return 0;
    end if;
    readers := array(
        select r.number from :"schema".reader r where r.box = p_log and r.removed_at is null order by r.number);
    leased := coalesce((
        select range_agg(x) from :"schema".lease l, unnest(l.items) x where l.box = any (readers)), '{}');
    gone := array(
        select m.work_id from :"schema".message m
        where m.work_id = any (ids) and m.box = p_log and not leased @> m.work_id
          and not exists (select from :"schema".parked p where p.work_id = m.work_id and p.box = any (readers))
          and not exists (select from :"schema".dead d where d.work_id = m.work_id and d.box = any (readers))
          and (select bool_and(case when f.at is null then not :"schema"._wants(
                                        r, m.lane, m.era, m.xid, m.topic, m.created_at, m.work_id)
                                    else f.at <= cutoff end)
                      and (count(f.at) > 0 or m.created_at <= cutoff)
               from unnest(readers) r left join lateral :"schema"._finished(r, m.work_id) f on true)
        order by m.work_id);
    if p_log = 1 and gone <> '{}' then   -- the keys remember how they ended; a message stays if a transaction has its key
        busy := :"schema"._busy_keys(gone);
        gone := array(select i from unnest(gone) i where i <> all (busy));
        perform :"schema"._end_keys(gone);
    end if;
    if p_log = 0 and gone <> '{}' and exists (select from :"schema".schedule_row) then
        busy := :"schema"._busy_slices(gone);
        gone := array(select i from unnest(gone) i where i <> all (busy));
    end if;
    if gone = '{}' then
        return 0;
    end if;
    items := :"schema"._multirange(gone);
    if p_log = 0 and exists (select from :"schema".schedule_row) then   -- a dead letter that was purged was not done
        perform :"schema"._complete_slices(array(
            select i from unnest(gone) i where exists (
                select from unnest(:"schema"._slice_readers()) r, :"schema"._finished(r, i) f where f.at > '-infinity')));
    end if;
    perform :"schema"._forget_done(r, items) from unnest(readers) r;
    delete from :"schema".attempt a where a.work_id = any (gone);
    delete from :"schema".stage s where s.work_id = any (gone);
    delete from :"schema".reader_skip k where k.work_id = any (gone);
    with messages as (
        delete from :"schema".message m where m.work_id = any (gone) returning m.message_id, m.unique_key)
    select array_agg(m.unique_key), array_agg(m.message_id) into keys, holders
    from messages m where m.unique_key is not null;
    perform :"schema"._forget_keys(keys, holders);
    -- The last chance to count them: from now on nothing can attach them.
    if :"schema"._is_step(items) then
        perform :"schema"._count_steps(items, 1::smallint, clock_timestamp());
    end if;
    return cardinality(gone);
end $$;
