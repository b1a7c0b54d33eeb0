-- Leases messages that this very transaction has stored, which no claim sees before the commit: those that are due,
-- wanted and of no stream. They leave the log, as messages do that are claimed inside a transaction (_leave_out). A stream
-- has an order, and others may have enqueued into it meanwhile, so its messages are left to the next claim. ids: only
-- of new messages. p_number and max_bytes as in _claim_numbered.
create or replace function :"schema"._lease_stored(
    p_box smallint, p_owner uuid, lease interval, wanted int, exact text[], prefixes text[], ids bigint[],
    p_number bigint, max_bytes bigint)
returns :"schema".claimed_message[] language plpgsql volatile :hot as $$
declare
    ts timestamptz := clock_timestamp();
    waits constant text := case p_box when 0 then :"schema"._wait_topic() end;
    f constant :"schema".frontier := :"schema"._frontier(p_box, 0::smallint);
    taken bigint[];
    excess bigint[];
    new_epoch bigint;
begin
    taken := array(
        select m.work_id from unnest(ids) i cross join lateral (
            select m.* from :"schema".message m where m.work_id = i and m.lane = 0 limit 1) m
        where coalesce(m.due_at <= ts, true) and coalesce(m.expires_at > ts, true)
          and (not f.choosy or :"schema"._reads(f.choosy, f.in_exact, f.in_prefixes, f.but_exact, f.but_prefixes, f.from_time, f.from_id,
                                                m.topic, m.created_at, m.work_id))
          and (exact is null and prefixes is null or :"schema"._wanted(m.topic, exact, prefixes))
          and (m.topic is distinct from waits or coalesce(waits = any (exact), false))
        order by m.work_id limit wanted);
    if taken = '{}' then
        return '{}':::"schema".claimed_message[];
    end if;
    excess := :"schema"._beyond_bytes(:"schema"._multirange(taken), max_bytes);   -- the last ones
    taken := taken[:cardinality(taken) - coalesce(cardinality(excess), 0)];
    if current_setting('max_prepared_transactions') <> '0' then   -- such a transaction cannot be prepared
        perform :"schema"._note_end(p_box, true);
    end if;
    perform :"schema"._leave_out(p_box, taken);
    new_epoch := (:"schema"._draw_epoch(f.epoch)).epoch;
    insert into :"schema".lease (box, epoch, owner, until, items, has_parked, claim_number)
    values (p_box, new_epoch, p_owner, ts + lease, :"schema"._multirange(taken), false, p_number);
    return array(select c from :"schema"._claimed_rows(p_box, :"schema"._multirange(taken), false, new_epoch, p_owner, ts + lease) c);
end $$;
