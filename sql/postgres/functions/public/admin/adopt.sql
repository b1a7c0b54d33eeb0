-- Makes a restored or copied store this server's own. The transaction ids in its log are those of another server and
-- must never be compared with this server's. So a new era begins: everything unfinished, wherever the old frontier
-- stood, is parked, and the frontier starts from here. Altering the column's default waits for all writers, so that no
-- message is left between the eras. Sequences are lifted above the existing numbers, since a logical copy does not
-- bring them. True when there was something to do.
create or replace function :"schema".adopt() returns boolean
language plpgsql volatile security definer :pinned as $$
declare
    next_era smallint;
    start pg_snapshot;
    top bigint;
    n smallint;
    ids regclass := pg_get_serial_sequence(':"schema".message', 'work_id');
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception using errcode = 'BX004', message = 'adopt works under READ COMMITTED only';
    end if;
    if :"schema"._is_own() then
        return false;
    end if;
    perform from :"schema".store s for update;
    if :"schema"._is_own() then
        return false;   -- another session was faster
    end if;
    perform :"schema"._adopt_events();
    select s.era + 1 into next_era from :"schema".store s;
    execute format('alter table :"schema".message alter column era set default %s', next_era);
    perform setval(ids, greatest((select max(m.work_id) from :"schema".message m), pg_sequence_last_value(ids), 1),
                   exists (select from :"schema".message) or pg_sequence_last_value(ids) is not null);
    perform setval(':"schema".awaited_flag', 1), setval(':"schema".old_key_flag', 1), setval(':"schema".member_flag', 1),
            setval(':"schema".instance_flag', 1);
    delete from :"schema".pool p where p.to_park;
    perform setval(':"schema".reader_number', max(r.number)), setval(':"schema".skip_flag', 1)
    from :"schema".reader r having max(r.number) > 1;
    for n in select r.number from :"schema".reader r where r.removed_at is null order by r.number loop
        perform :"schema"._unbury(n, :"schema"._lost_ids(n, true), true, clock_timestamp());
    end loop;
    update :"schema".pool p set holder = null where p.holder is not null;
    perform setval(':"schema".pool_place_seq', greatest((select max(p.place) from :"schema".pool p),
                                                        pg_sequence_last_value(':"schema".pool_place_seq'), 1));
    top := coalesce(pg_sequence_last_value(ids), 0);
    update :"schema".stream s set position = top, taken_from = case when s.epoch is null then top else s.taken_from end;
    update :"schema".join_row j set ended_xid = null where j.ended_xid is not null;
    update :"schema".upkeep_look x set look_at = '-infinity', look = null, folded = null;
    start := :"schema"._snapshot();
    insert into :"schema".frontier (box, lane, seq, era, base, target, position_xid, position_id, epoch, lease_from, due_from,
                                    expiring_from, expired_from, look_at, whole, target_top, base_top, target_low, base_low,
                                    log_box, choosy, in_exact, in_prefixes, but_exact, but_prefixes, from_time, from_id)
    select f.box, f.lane, f.seq + 1, next_era, start, start, '0', 0, f.epoch, '-infinity', '-infinity', '-infinity', '-infinity',
           '-infinity', f.lane = 1, top, top, top, top, f.log_box, f.choosy, f.in_exact, f.in_prefixes, f.but_exact, f.but_prefixes,
           f.from_time, f.from_id
    from (select distinct on (x.box, x.lane) x.* from :"schema".frontier x
          order by x.box, x.lane, x.seq desc) f;
    update :"schema".store s
    set era = next_era,
        system_identifier = :"schema"._system_identifier(),
        message_oid = ':"schema".message'::regclass;
    update :"schema".origin o set xid = 0;                       -- now it is this transaction's ...
    update :"schema".origin o set xid = o.xmin::text::bigint;    -- ... and says so
    return true;
end $$;
