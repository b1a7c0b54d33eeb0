-- The common claim, in as few statements as it takes: there is nothing but messages in the pool, and the first row of it that
-- is free has enough of them. items null: it is not that simple, nothing was done, and _claim_items finds out more.
-- Only for claims that are a transaction by themselves.
--
-- With many connections a statement costs more than what it does. So what functions would do is written out here. But
-- locking a row of the pool and changing it are two statements: the snapshot of the second one sees what was locked.
create or replace function :"schema"._claim_at_once(
    p_box smallint, p_owner uuid, lease interval, wanted int, exact text[], prefixes text[], p_number bigint,
    max_bytes bigint,
    out items int8multirange, out epoch bigint, out until timestamptz)
language plpgsql volatile as $$
declare
    ts timestamptz := clock_timestamp();
    p record;
    part int8multirange;
    is_free boolean;   -- null: one run of ids, and not known yet
    number bigint;   -- of the epoch
begin
    -- In another isolation _before_claim refuses. The last answer of _is_quiet counts for 20 milliseconds.
    if current_setting('transaction_isolation') <> 'read committed'
       or (floor(extract(epoch from ts) * 1000)::bigint - pg_sequence_last_value(
            case p_box when 0 then ':"schema".outbox_quiet'::regclass else ':"schema".inbox_quiet'::regclass end)
        between 0 and 19) is not true and not :"schema"._is_quiet(p_box) then
        return;
    end if;
    -- is_silent: its instance has to give a sign of life (_sign_of_life).
    if exact is null and prefixes is null then
        select f.epoch, x.ctid as row, x.place, x.size, x.items,
               exists (select from :"schema".instance_row r where r.instance_id = p_owner and not exists (
                   select from :"schema".instance_sign s
                   where s.instance_id = p_owner and s.seen_at > ts - interval '500 milliseconds')) as is_silent
        into p from (
            select y.epoch, y.look_at, y.pool_from from :"schema".frontier y where y.box = p_box and y.lane = 0
            order by y.box desc, y.lane desc, y.seq desc limit 1) f cross join lateral (
            select y.ctid, y.place, y.size, y.items from :"schema".pool y
            where y.box = p_box and y.place >= f.pool_from and y.holder is null
            order by y.box, y.place limit 1 for update skip locked) x
        where f.look_at > ts and f.look_at <= ts + interval '1 minute';
    else
        select f.epoch, x.ctid as row, x.place, x.size, x.items,
               exists (select from :"schema".instance_row r where r.instance_id = p_owner and not exists (
                   select from :"schema".instance_sign s
                   where s.instance_id = p_owner and s.seen_at > ts - interval '500 milliseconds')) as is_silent
        into p from (
            select y.epoch, y.look_at, y.pool_from from :"schema".frontier y where y.box = p_box and y.lane = 0
            order by y.box desc, y.lane desc, y.seq desc limit 1) f cross join lateral (
            select y.ctid, y.place, y.size, y.items from :"schema".pool y
            where y.box = p_box and y.holder is null and y.place = any (array(
                select z.place from (
                    select z.place, z.topic from :"schema".pool z
                    where z.box = p_box and z.place >= f.pool_from and z.holder is null order by z.box, z.place limit 64) z
                where :"schema"._wanted(z.topic, exact, prefixes)))
            order by y.box, y.place limit 1 for update skip locked) x
        where f.look_at > ts and f.look_at <= ts + interval '1 minute';
    end if;
    if p.size is null or p.size < wanted or p.is_silent then
        return;
    end if;
    part := case when p.size = wanted then p.items
                 when p.items @> int8range(lower(p.items), lower(p.items) + wanted)
                 then int8multirange(int8range(lower(p.items), lower(p.items) + wanted))
                 else :"schema"._first_ids(p.items, wanted) end;
    ts := clock_timestamp();   -- after the frontier was read: see _epoch
    number := nextval(':"schema".epoch_count');
    epoch := :"schema"._epoch(ts, number, p.epoch);
    until := ts + lease;
    if upper(part) - lower(part) > wanted then
        select count(*) = wanted and not bool_or(m.xmax <> 0 or m.lane <> 0)
           and sum(:"schema"._message_bytes(m.payload, m.headers, m.metadata)) <= max_bytes
        into is_free from unnest(part) r cross join lateral (
            select m.xmax, m.lane, m.payload, m.headers, m.metadata from :"schema".message m
            where m.work_id >= lower(r) and m.work_id < upper(r) order by m.work_id offset 0) m;
        if is_free is not true then
            return;
        end if;
    end if;
    -- One run of ids is looked at here: whether somebody holds one of them, and whether they are too large.
    if p.size = wanted then
        delete from :"schema".pool x where x.ctid = p.row and (is_free or (
            select count(*) = wanted and not bool_or(m.xmax <> 0 or m.lane <> 0)
               and sum(:"schema"._message_bytes(m.payload, m.headers, m.metadata)) <= max_bytes
            from :"schema".message m where m.work_id >= lower(part) and m.work_id < upper(part)));
    else
        update :"schema".pool x set items = x.items - part, size = x.size - wanted where x.ctid = p.row and (is_free or (
            select count(*) = wanted and not bool_or(m.xmax <> 0 or m.lane <> 0)
               and sum(:"schema"._message_bytes(m.payload, m.headers, m.metadata)) <= max_bytes
            from :"schema".message m where m.work_id >= lower(part) and m.work_id < upper(part)));
    end if;
    if not found then   -- what stays in the pool is not leased
        return;
    end if;
    insert into :"schema".lease (box, epoch, owner, until, items, has_parked, claim_number)
    values (p_box, epoch, p_owner, until, part, false, p_number);
    items := part;
    -- Few rows are left: the pool is filled before it is empty. Of small claims one in sixteen tries, since there may be
    -- nothing to fill it with.
    if pg_sequence_last_value(':"schema".pool_place_seq') - p.place < greatest(least(2000 / wanted, 64), 4)
       and (wanted >= 50 or number % 16 = 0) then
        perform :"schema"._refill(p_box, wanted);
    end if;
end $$;
