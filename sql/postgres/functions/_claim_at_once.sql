-- The common claim, in as few statements as it takes: there is nothing but messages in the pool, and the first row of it that
-- is free has enough of them. items null: it is not that simple, nothing was done, and _claim_items finds out more.
-- Only for claims that are a transaction by themselves.
create or replace function :"schema"._claim_at_once(
    p_box smallint, p_owner uuid, lease interval, wanted int, exact text[], prefixes text[], p_number bigint,
    max_bytes bigint,
    out items int8multirange, out epoch bigint, out until timestamptz)
language plpgsql volatile as $$
declare
    ts timestamptz;
    f record;
    p record;
    met record;
    part int8multirange;
begin
    select x.pool_from, x.epoch, x.look_at, x.lease_from, x.due_from, x.expiring_from into f
    from :"schema".frontier x where x.box = p_box and x.lane = 0 order by x.box desc, x.lane desc, x.seq desc limit 1;
    ts := clock_timestamp();   -- after that: see _epoch
    if (f.look_at > ts and f.look_at <= ts + interval '1 minute'
        and greatest(f.lease_from, f.due_from, f.expiring_from) <= ts) is not true then
        return;
    end if;
    if not :"schema"._is_quiet(p_box, ts, f.lease_from, f.due_from, f.expiring_from) or exists (
        select from :"schema".instance_row r where r.instance_id = p_owner and not exists (
            select from :"schema".instance_sign s
            where s.instance_id = p_owner and s.seen_at > ts - interval '500 milliseconds')) then
        return;
    end if;
    if exact is null and prefixes is null then
        select x.ctid as row, x.size, x.items into p from :"schema".pool x
        where x.box = p_box and x.place >= f.pool_from and x.holder is null
        order by x.box, x.place limit 1 for update skip locked;
    else
        select x.ctid as row, x.size, x.items into p from :"schema".pool x
        where x.box = p_box and x.holder is null and x.place = any (array(
            select y.place from (
                select y.place, y.topic from :"schema".pool y
                where y.box = p_box and y.place >= f.pool_from and y.holder is null order by y.box, y.place limit 64) y
            where :"schema"._wanted(y.topic, exact, prefixes)))
        order by x.box, x.place limit 1 for update skip locked;
    end if;
    if p.size is null or p.size < wanted then
        return;
    end if;
    part := case when p.size = wanted then p.items
                 when p.items @> int8range(lower(p.items), lower(p.items) + wanted)
                 then int8multirange(int8range(lower(p.items), lower(p.items) + wanted))
                 else :"schema"._first_ids(p.items, wanted) end;
    select count(*) as n, sum(octet_length(m.payload)) as bytes, bool_or(m.xmax <> 0 or m.lane <> 0) as touched into met
    from unnest(part) r cross join lateral (
        select m.xmax, m.lane, m.payload from :"schema".message m
        where m.work_id >= lower(r) and m.work_id < upper(r) order by m.work_id offset 0) m;
    if met.n <> wanted or met.touched or met.bytes > max_bytes then
        return;
    end if;
    if p.size = wanted then
        delete from :"schema".pool x where x.ctid = p.row;
    else
        update :"schema".pool x set items = x.items - part, size = x.size - wanted where x.ctid = p.row;
    end if;
    if not found then   -- what stays in the pool is not leased
        return;
    end if;
    epoch := :"schema"._epoch(ts, nextval(
        case p_box when 0 then ':"schema".outbox_claims'::regclass else ':"schema".inbox_claims'::regclass end), f.epoch);
    until := ts + lease;
    insert into :"schema".lease (box, epoch, owner, until, items, has_parked, claim_number)
    values (p_box, epoch, p_owner, until, part, false, p_number);
    items := part;
end $$;
