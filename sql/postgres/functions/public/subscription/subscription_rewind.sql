-- Delivers again what is kept from a place on: beginning, a time, or a work id. What the subscription knows of these messages is
-- forgotten: leases, retries, dead letters, what is done. Only what was cancelled stays so. Messages before the place that it has not
-- ended yet are still delivered. Returns how many messages are ahead, as far as that is quickly known. BX003: the place lies before
-- what is kept.
--
-- Claims of the subscription are kept out. Whoever settles takes the message out of its lease first, and so does this: what comes
-- after that sees what such a transaction did.
create or replace function :"schema".subscription_rewind(name text, target text) returns bigint
language plpgsql volatile security definer :hot set enable_hashjoin = on as $$
declare
    ts constant timestamptz := clock_timestamp();
    is_id constant boolean := coalesce(target ~ '^\d{1,18}$', false);
    from_id bigint := case when is_id then target::bigint end;
    from_time timestamptz;
    r :"schema".reader;
    oldest record;
    n smallint;
    keys text[];
    known int8multirange;   -- what it has done from there on
    ahead bigint;
begin
    if target is null or target <> 'beginning' and not is_id then
        begin
            from_time := target::timestamptz;
        exception when data_exception then
            from_time := null;
        end;
        if (from_time between '1970-01-01Z' and '9999-12-31Z') is not true then
            perform :"schema"._invalid('target', 'must be beginning, a time, or a work id');
        end if;
        if from_time > ts then
            perform :"schema"._invalid('target', 'lies in the future: give one that has been');
        end if;
    end if;
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception using errcode = 'BX004', message = 'subscription_rewind works under READ COMMITTED only';
    end if;
    r := :"schema"._hold_reader(name);
    n := r.number;
    -- Of a box with few messages by its own index: in the log they may lie behind many of the other box.
    select min(x.work_id) as work_id, min(x.created_at) as created_at, count(*) as kept into oldest
    from (select m.work_id, m.created_at from :"schema".message m where m.box = r.box limit 10000) x;
    if oldest.kept = 10000 then
        select m.work_id, m.created_at into oldest from :"schema".message m where m.box = r.box order by m.work_id limit 1;
    end if;
    if from_id < oldest.work_id or from_time < oldest.created_at or oldest.work_id is null and target <> 'beginning' then
        raise exception using errcode = 'BX003',
            message = 'the place lies before what is kept' || case
                when oldest.work_id is null then ': no message is kept; give beginning'
                else format(', which begins with message %s of %s: give beginning', oldest.work_id,
                            to_char(oldest.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) end;
    end if;
    perform :"schema"._stop_claims(n, r.box);
    if not :"schema"._turn(n, true) then
        raise exception using errcode = '55P03', message = 'claimers are busy; try again';
    end if;

    -- Leases. Messages of streams before the place that stay leased are parked, since positions are lost.
    perform from :"schema".lease l where l.box = n order by l.epoch, l.part for update;
    update :"schema".lease l set items = l.items - coalesce(:"schema"._from_place(l.items, from_time, from_id), '{}') where l.box = n;
    delete from :"schema".lease l where l.box = n and l.items = '{}';
    insert into :"schema".parked (work_id, box, epoch, available_at, expires_at, topic, stream)
    select m.work_id, n, l.epoch, ts, m.expires_at, m.topic, m.stream
    from :"schema".lease l, :"schema"._ids(l.items) i join :"schema".message m on m.work_id = i
    where l.box = n and m.stream is not null
      and not exists (select from :"schema".parked p where p.work_id = m.work_id and p.box = n);
    -- What lies before the place and was not met yet is kept apart from the log.
    if target <> 'beginning' then
        insert into :"schema".parked (work_id, box, available_at, expires_at, topic, stream)
        select m.work_id, n, greatest(m.due_at, m.created_at), m.expires_at, m.topic, m.stream
        from :"schema"._fresh m where m.reader = n and coalesce(m.created_at < from_time, m.work_id < from_id)
          and not exists (select from :"schema".parked p where p.work_id = m.work_id and p.box = n);
    end if;
    delete from :"schema".pool p where p.box = n;
    -- Twice, for what another transaction moved from the one to the other meanwhile.
    for i in 1 .. 2 loop
        delete from :"schema".dead d using :"schema".message m
        where d.box = n and d.reason <> 5 and m.work_id = d.work_id
          and coalesce(m.created_at >= from_time, m.work_id >= from_id, true);
        delete from :"schema".parked p using :"schema".message m
        where p.box = n and m.work_id = p.work_id and coalesce(m.created_at >= from_time, m.work_id >= from_id, true);
    end loop;
    select range_agg(x) into known from (
        select unnest(:"schema"._from_place(int8multirange(int8range(f.first_id, f.last_id + 1)), from_time, from_id)) as x
        from :"schema".finished f where f.box = n and coalesce(f.last_id >= from_id, true) and (from_time is null or f.at >= from_time or f.at = '-infinity')) z;
    if known is not null then
        perform :"schema"._forget_done(n, known);
        delete from :"schema".attempt a using :"schema"._ids(known) i where a.work_id = i and a.reader = n;
    end if;
    delete from :"schema".attempt a using :"schema".message m
    where a.reader = n and m.work_id = a.work_id and coalesce(m.created_at >= from_time, m.work_id >= from_id, true)
      and not exists (select from :"schema".dead d where d.work_id = a.work_id and d.box = n);
    delete from :"schema".reader_skip k
    where k.box = n and not exists (select from :"schema".dead d where d.work_id = k.work_id and d.box = n);
    if exists (select from :"schema".dead d where d.box = n and d.reason = 5) then   -- cancelled: the frontier comes past them again
        perform :"schema"._leave_out(n, array(select d.work_id from :"schema".dead d where d.box = n and d.reason = 5));
    end if;

    -- Streams begin anew, except those that stand still for a dead letter that is left.
    delete from :"schema".stream_note s where s.box = n;
    delete from :"schema".stream s
    where s.box = n and (s.halted_at is null
                         or not exists (select from :"schema".dead d where d.work_id = s.halted_by and d.box = n));
    update :"schema".stream s set position = 0, taken_from = 0, epoch = null, available_at = null, topic = null where s.box = n;
    perform :"schema"._start_reader(n, false, from_time, from_id);
    keys := array(select distinct p.stream from :"schema".parked p where p.box = n and p.stream is not null);
    if keys <> '{}' then
        perform :"schema"._requeue_streams(n, keys, '{}', ts);
    end if;
    update :"schema".reader x set rewound_at = ts where x.number = n;
    insert into :"schema".reader_rewind (number, at, target) values (n, ts, subscription_rewind.target);
    perform :"schema"._end_quiet(n);
    select count(*) into ahead from (
        select from :"schema"._fresh m where m.reader = n limit 100000) z;
    return ahead + (select count(*) from (select from :"schema".parked p where p.box = n limit 100000) z);
end $$;
