-- Leases messages of streams, which the caller has locked, where not all is plain: some messages are parked, expired,
-- not due or unwanted. Parked ones may lie between those in the log, so this goes from one to the other and back. If a
-- stream has nothing for the claimer, its row notes what is known of it. A stream without messages is forgotten. Only
-- under the turn.
create or replace function :"schema"._claim_mixed_heads(
    p_box smallint, p_epoch bigint, due text[], wanted int, ts timestamptz, exact text[], prefixes text[], p_except text)
returns bigint[] language plpgsql volatile :hot as $$
declare
    log record;
    got record;
    room int;
    taken bigint[] := '{}'::bigint[];
begin
    for i in 1 .. 10 loop
        log := :"schema"._log_runs(p_box, due, wanted - cardinality(taken), true, p_epoch, ts, exact, prefixes, p_except);
        taken := taken || log.ids;
        if log.held is not null then
            update :"schema".stream s
            set available_at = null, position = r.last_id, epoch = p_epoch,
                taken_from = case when s.epoch = p_epoch then s.taken_from else s.position end   -- it may be the second run of this claim
            from unnest(:"schema"._stream_rows(p_box, log.held), log.lasts) r(place, last_id) where s.ctid = r.place;
        end if;
        if log.expired is not null then   -- they are parked, where _bury_expired finds them
            perform set_config('boxcar.met_expired', 'yes', true);   -- _claim_items tells its caller
            insert into :"schema".parked (work_id, box, available_at, expires_at, topic, stream)
            select m.work_id, p_box, ts, m.expires_at, m.topic, m.stream from :"schema".message m where m.work_id = any (log.expired);
            update :"schema".stream s
            set position = m.work_id, taken_from = case when s.epoch is null then m.work_id else s.taken_from end
            from (select m.stream, max(m.work_id) as work_id from :"schema".message m where m.work_id = any (log.expired)
                  group by m.stream) m
            where s.box = p_box and s.key = m.stream and s.position < m.work_id;
        end if;
        if i = 1 and log.waiting is not null then
            perform :"schema"._put_off_streams(p_box, log.waiting, log.until, null, log.topics);
        end if;
        if i = 1 and log.empty is not null then
            perform :"schema"._forget_streams(p_box, :"schema"._stream_rows(p_box, log.empty), ts);
        end if;
        due := coalesce(log.held, '{}');
        room := wanted - cardinality(taken);
        if log.odd is not null and room > 0 then
            got := :"schema"._claim_odd_heads(p_box, p_epoch, log.odd[:room], log.heads[:room], greatest(room / cardinality(log.odd), 1), false,
                                         i = 1, ts, exact, prefixes, p_except);
            taken := taken || got.ids;
            due := due || coalesce(got.held, '{}');
        end if;
        exit when due = '{}' or cardinality(taken) >= wanted;
    end loop;
    return taken;
end $$;
