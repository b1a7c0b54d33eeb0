-- Removes registered instances that were silent in every way for this long (null: the setting), and ends their leases,
-- with all readers: claimers then find these expired. Signs of life are noted at intervals of half a second, and for half
-- a second after a claim an ack gives no other sign than the claim did (_ack). If another transaction holds a row of an
-- instance, the instance is in the middle of a call. Returns how many were removed.
create or replace function :"schema"._remove_stale(p_threshold interval default null) returns bigint
language plpgsql volatile security definer :hot as $$
declare
    ts timestamptz := clock_timestamp();
    since timestamptz;
    silent uuid[];
begin
    if p_threshold not between interval '1 second' and interval '1 day' then
        perform :"schema"._invalid('stale_threshold', 'is out of range: give 1 second to 1 day, or null for the setting');
    end if;
    since := ts - coalesce(p_threshold, make_interval(secs => :"schema"._setting('instance_timeout', 30000) / 1000));
    -- Under an older snapshot all instances would seem silent.
    if current_setting('transaction_isolation') <> 'read committed' then
        return 0;
    end if;
    silent := array(select r.instance_id from :"schema".instance_row r
                    group by r.instance_id having max(r.seen_at) <= since);
    if silent = '{}' then
        return 0;
    end if;
    silent := array(
        select x.instance_id from (
            select r.instance_id from :"schema".instance_row r where r.instance_id = any (silent)
            for update skip locked) x
        group by x.instance_id
        having count(*) = (select count(*) from :"schema".instance_row r where r.instance_id = x.instance_id));
    -- A second look: from now on this sees every sign that an instance gives.
    silent := array(
        select i from unnest(silent) i
        where not exists (select from :"schema".instance_row r where r.instance_id = i and r.seen_at > since)
          and not exists (select from :"schema".instance_sign s
                          where s.instance_id = i and s.seen_at > since - interval '1 second'));
    delete from :"schema".instance_row r where r.instance_id = any (silent);
    delete from :"schema".instance_sign s where s.instance_id = any (silent);
    update :"schema".lease l set until = ts
    where (l.box, l.epoch, l.part) in (
        select x.box, x.epoch, x.part from :"schema".lease x where x.owner = any (silent) and x.until > ts
        for update skip locked);
    perform :"schema"._end_quiet(r.number) from :"schema".reader r where r.removed_at is null;
    return cardinality(silent);
end $$;
