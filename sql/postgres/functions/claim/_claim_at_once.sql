-- The common claim, in as few statements as possible: only the pool has messages for it, and the pool's first free row
-- has enough of them. items null: the claim is not that simple, and nothing was done; _claim_items finds out more. Only
-- for claims that are a transaction by themselves.
--
-- With many connections a statement costs more than the work it does, and each node of its plan costs about as much as
-- a look through an index. So this function writes out the work of other functions. But it locks a row of the pool in
-- one statement and looks at its messages in the next: the snapshot of the second one shows what other transactions
-- locked before this claim had the row. A claim of one message reads it once: the answer (message) is made of the row
-- that was looked at.
create or replace function :"schema"._claim_at_once(
    p_box smallint, p_owner uuid, lease interval, wanted int, exact text[], prefixes text[], p_number bigint,
    max_bytes bigint,
    out items int8multirange, out epoch bigint, out until timestamptz, out message :"schema".claimed_message)
language plpgsql volatile as $$
declare
    ts timestamptz := clock_timestamp();
    p record;
    one record;   -- the only message
    part int8multirange;
    is_free boolean;   -- no transaction holds one of them, and they are not too large
    number bigint;   -- of the epoch
begin
    -- Under another isolation level _before_claim raises an error. The last answer of _is_quiet counts for 20
    -- milliseconds.
    if current_setting('transaction_isolation') <> 'read committed'
       or (floor(extract(epoch from ts) * 1000)::bigint - pg_sequence_last_value(
            case p_box when 0 then ':"schema".outbox_quiet'::regclass when 1 then ':"schema".inbox_quiet'::regclass
                       else :"schema"._own('quiet', p_box) end)
        between 0 and 19) is not true and not :"schema"._is_quiet(p_box) then
        return;
    end if;
    -- Does the owner's instance have to give a sign of life (_sign_of_life)? Most registered owners gave one lately.
    if pg_sequence_last_value(':"schema".instance_flag') is not null then
        if not exists (select from :"schema".instance_sign s
                       where s.instance_id = p_owner and s.seen_at > ts - interval '500 milliseconds') then
            if exists (select from :"schema".instance_row r where r.instance_id = p_owner) then
                return;
            end if;
        end if;
    end if;
    if exact is null and prefixes is null then
        select f.epoch, x.ctid as row, x.place, x.size, x.items
        into p from (
            select y.epoch, y.look_at, y.pool_from from :"schema".frontier y where y.box = p_box and y.lane = 0
            order by y.box desc, y.lane desc, y.seq desc limit 1) f cross join lateral (
            select y.ctid, y.place, y.size, y.items from :"schema".pool y
            where y.box = p_box and y.place >= f.pool_from and y.holder is null
            order by y.box, y.place limit 1 for update skip locked) x
        where f.look_at > ts and f.look_at <= ts + interval '1 minute';
    else   -- near the first row only: the pool may be full of topics that no claimer wants
        select f.epoch, x.ctid as row, x.place, x.size, x.items
        into p from (
            select y.epoch, y.look_at, y.pool_from from :"schema".frontier y where y.box = p_box and y.lane = 0
            order by y.box desc, y.lane desc, y.seq desc limit 1) f cross join lateral (
            select y.ctid, y.place, y.size, y.items from :"schema".pool y
            where y.box = p_box and y.holder is null and y.place >= f.pool_from and y.place < 64 + (
                select z.place from :"schema".pool z
                where z.box = p_box and z.place >= f.pool_from and z.holder is null order by z.box, z.place limit 1)
              and :"schema"._wanted(y.topic, exact, prefixes)
            order by y.box, y.place limit 1 for update skip locked) x
        where f.look_at > ts and f.look_at <= ts + interval '1 minute';
    end if;
    if p.size is null or p.size < wanted then
        return;
    end if;
    if wanted = 1 then
        select x.xmax as locker, x.* into one from :"schema".message x where x.work_id = lower(p.items);
        is_free := one.locker = 0 and one.lane = 0
            and :"schema"._message_bytes(one.payload, one.headers, one.metadata) <= max_bytes;
        part := int8multirange(int8range(one.work_id, one.work_id + 1));
    else
        part := case when p.size = wanted then p.items
                     when p.items @> int8range(lower(p.items), lower(p.items) + wanted)
                     then int8multirange(int8range(lower(p.items), lower(p.items) + wanted))
                     else :"schema"._first_ids(p.items, wanted) end;
        select count(*) = wanted and not bool_or(m.xmax <> 0 or m.lane <> 0)
           and sum(:"schema"._message_bytes(m.payload, m.headers, m.metadata)) <= max_bytes
        into is_free from unnest(part) r cross join lateral (
            select m.xmax, m.lane, m.payload, m.headers, m.metadata from :"schema".message m
            where m.work_id >= lower(r) and m.work_id < upper(r) order by m.work_id offset 0) m;
    end if;
    if is_free is not true then
        return;
    end if;
    if p.size = wanted then
        delete from :"schema".pool x where x.ctid = p.row;
    else
        update :"schema".pool x set items = x.items - part, size = x.size - wanted where x.ctid = p.row;
    end if;
    if not found then   -- a message that stays in the pool is not leased
        return;
    end if;
    ts := clock_timestamp();   -- after the frontier was read: see _epoch
    number := nextval(':"schema".epoch_count');
    epoch := :"schema"._epoch(ts, number, p.epoch);
    until := ts + lease;
    insert into :"schema".lease (box, epoch, owner, until, items, has_parked, claim_number)
    values (p_box, epoch, p_owner, until, part, false, p_number);
    if wanted = 1 then   -- as _claimed_rows does
        message := (one.work_id, epoch, one.message_id, case one.box when 0 then 'outbox' else 'inbox' end, one.topic, one.payload,
                    'in_progress', one.created_at, one.due_at, null, one.expires_at, null, one.correlation_id, one.headers, 0, 0,
                    one.max_attempts, null, p_owner, until, null, null, 1, case when one.event_type is null then 1 else 3 end,
                    one.source, one.external_id, one.causation_id, one.event_type, one.metadata);
    end if;
    items := part;
    -- Few rows are left: this fills the pool before it is empty. Of small claims one in sixteen tries, since there may
    -- be nothing to fill it with.
    if pg_sequence_last_value(':"schema".pool_place_seq') - p.place < greatest(least(2000 / wanted, 64), 4)
       and (wanted >= 50 or number % 16 = 0) then
        perform :"schema"._refill(p_box, wanted);
    end if;
end $$;
