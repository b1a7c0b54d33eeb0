-- One small step of upkeep of a reader: reap, expire, fold, purge, joins, each bounded. It also removes instances that
-- were silent for long, and naps and signs of life that are over. The caller repeats it, a transaction each, while more
-- is true. The caller also calls _expire_fresh for each lane, which takes the claimers' turn and so needs a transaction
-- of its own.
create or replace function :"schema"._maintain(
    p_box smallint, out reaped bigint, out expired bigint, out purged_done bigint, out purged_dead bigint,
    out more boolean, out settled bigint, out timed_out bigint, out purged_joins bigint,
    out ended uuid[], out purged_keys bigint)
language plpgsql volatile security definer :hot as $$
declare
    ts timestamptz := clock_timestamp();
    folded bigint;
    forgotten bigint;
    joins record;
    dead bigint[];
    busy bigint[];
    dropped bigint;
    ended_more boolean;
    plain constant :"schema".frontier := :"schema"._frontier(p_box, 0::smallint);
    streamed constant :"schema".frontier := :"schema"._frontier(p_box, 1::smallint);
    cutoff timestamptz;
    most constant int := 2000;
begin
    perform :"schema"._remove_stale();
    delete from :"schema".instance_sign s
    where s.ctid = any (array(
        select x.ctid from :"schema".instance_sign x
        where exists (select from :"schema".instance_sign y where y.instance_id = x.instance_id and y.seen_at > x.seen_at)
        limit most for update skip locked));
    dropped := 0;
    ended_more := false;
    if p_box = 0 then
        perform :"schema"._sort_waits(most);
    elsif p_box > 1 then
        dropped := :"schema"._drop_oldest(p_box, most);
    end if;
    if pg_sequence_last_value(':"schema".skip_flag') is not null then   -- claimers have come past these
        delete from :"schema".reader_skip k
        where k.box = p_box and k.work_id = any (array(
            select x.work_id from (select * from :"schema".reader_skip x where x.box = p_box order by x.work_id limit most) x
            left join :"schema".message m on m.work_id = x.work_id
            where m.work_id is null
               or m.lane = 0 and (m.era <> plain.era or :"schema"._is_behind(plain, m.xid, m.work_id))
                  and not exists (select from :"schema".pool p where p.box = p_box and p.items @> m.work_id)
               or m.lane = 1 and (m.era <> streamed.era or :"schema"._is_met(streamed, m.xid, m.work_id, m.stream))));
    end if;
    reaped := :"schema"._try_expire_leases(p_box, '-infinity', 50);
    expired := :"schema"._try_bury_expired(p_box, most);
    -- One at a time: both change the counters of several topics and what was appended to them. If another upkeep is at
    -- it, that one does the work.
    folded := 0;
    purged_done := 0;
    if :"schema"._upkeep_turn(p_box) then
        folded := :"schema"._fold_tally(p_box, most);
        if pg_sequence_last_value(':"schema".reader_number') is null then
            purged_done := :"schema"._purge_done(p_box, most);
        elsif p_box < 2 then
            select e.purged, e.more into purged_done, ended_more from :"schema"._purge_ended(p_box, most) e;
            if p_box = 0 then
                ended_more := :"schema"._forget_readers(most) >= most or ended_more;
            end if;
        end if;
        if p_box = 0 then   -- each round begins with it; no other upkeep has the turn, so none waits for this row
            update :"schema".upkeep u set ran_at = ts
            where u.ran_at is null or u.ran_at not between ts - interval '10 seconds' and ts;
        end if;
    end if;
    -- Dead letters past their retention, and evidence of work out of order of that age.
    cutoff := clock_timestamp() - make_interval(secs => :"schema"._setting('retention_dead', 30 * 86400000.0) / 1000);
    dead := array(
        select d.work_id from :"schema".dead d where d.box = p_box and d.died_at <= cutoff
        order by d.died_at limit most for update skip locked);
    if p_box = 1 and dead <> '{}' then
        busy := :"schema"._busy_keys(dead);
        dead := array(select i from unnest(dead) i where i <> all (busy));
    end if;
    purged_dead := :"schema"._dead_purge(p_box, dead);
    delete from :"schema".stream_violation v
    where v.ctid = any (array(select x.ctid from :"schema".stream_violation x where x.box = p_box and x.at <= cutoff
                              order by x.at limit most for update skip locked));
    get diagnostics forgotten = row_count;
    -- Keys of the inbox that no transaction has used for longer than their retention and whose message is gone, or never
    -- was.
    purged_keys := 0;
    if p_box = 1 then
        cutoff := clock_timestamp() - make_interval(secs => :"schema"._setting('retention_inbox', 30 * 86400000.0) / 1000);
        delete from :"schema".inbox_key k
        where k.ctid = any (array(select x.ctid from :"schema".inbox_key x where x.state <> 1 and x.last_seen_at <= cutoff
                                  order by x.last_seen_at limit most for update skip locked));
        get diagnostics purged_keys = row_count;
    end if;
    delete from :"schema".sleeper p
    where p.ctid = any (array(select s.ctid from :"schema".sleeper s where s.until <= ts
                              order by s.until limit most for update skip locked));
    expired := expired + dropped;
    more := reaped > 0 or expired >= most or folded >= most or purged_done >= most or purged_dead >= most
        or purged_keys >= most or forgotten >= most or ended_more;
    settled := 0;
    timed_out := 0;
    purged_joins := 0;
    if p_box > 1 then
        ended := '{}';
        return;
    end if;
    -- Last, because joins stay locked until the commit.
    select * into joins from :"schema"._maintain_joins();
    settled := joins.settled;
    timed_out := joins.timed_out;
    purged_joins := joins.purged;
    more := more or joins.more;
    ended := array(select e.join_id from :"schema"._joins_ended() e);
end $$;
