-- Whether nothing of these topics is ready, leased, or waiting for a time before ts + horizon. All is read under the
-- snapshot of the calling statement, so a message on its way from one place to the next is seen in just one. The log is
-- read from the frontier's position on, and finished messages nowhere: the cost grows with the messages that are left,
-- not with those that are done. Expired messages count as dead. Messages of wait_topic that are put off do not count:
-- they wait for joins that are open.
create or replace function :"schema"._is_drained(
    p_box smallint, exact text[], prefixes text[], horizon interval, wait_topic text default null)
returns boolean language plpgsql stable security definer :hot as $$
#variable_conflict use_column
declare
    ts timestamptz := clock_timestamp();
    latest timestamptz := ts + greatest(least(horizon, interval ':delay_days_max days'), interval '0');   -- must not overflow
    everything boolean := exact is null and prefixes is null;
begin
    if p_box > 1 and :"schema"._is_paused(p_box) then   -- there is nothing for a worker
        return true;
    end if;
    return not exists (
            select from :"schema".lease l where l.box = p_box and (everything or exists (
                select from :"schema"._ids(l.items) i join :"schema".message m on m.work_id = i
                where :"schema"._wanted(m.topic, exact, prefixes))))
        -- Parked, by the indexes that claims use: plain ones by topic, suspects, waits, streams.
        and not (everything and exists (
            select from :"schema".parked p
            where p.box = p_box and p.epoch is null and p.stream is null and p.crash_count = 0
              and p.available_at <= latest and coalesce(p.expires_at > greatest(p.available_at, ts), true)
              and (p.available_at <= ts or p.topic is distinct from wait_topic)))
        and not (not everything and exists (
            select from unnest(:"schema"._parked_topics(p_box, exact, prefixes)) t(topic), lateral (
                select from :"schema".parked p
                where p.box = p_box and p.epoch is null and p.stream is null and p.crash_count = 0
                  and p.topic = t.topic collate "C"
                  and p.available_at <= case when t.topic is distinct from wait_topic then latest else ts end
                  and coalesce(p.expires_at > greatest(p.available_at, ts), true) limit 1) x))
        and not exists (
            select from :"schema".parked p
            where p.box = p_box and p.epoch is null and p.stream is null and p.crash_count > 0
              and p.available_at <= latest and coalesce(p.expires_at > greatest(p.available_at, ts), true)
              and (p.available_at <= ts or p.topic is distinct from wait_topic)
              and :"schema"._wanted(p.topic, exact, prefixes))
        and not exists (
            select from :"schema".parked p
            where p.box = p_box and p.epoch is null and p.stream is null and p.crash_count < 0 and p.available_at <= ts
              and coalesce(p.expires_at > ts, true) and :"schema"._wanted(p.topic, exact, prefixes))
        and not exists (   -- whose head, of any topic, is leased or comes in time
            select from :"schema".stream s cross join lateral (
                select p.available_at, p.epoch from :"schema".parked p
                where p.box = p_box and p.stream >= s.key and p.stream <= s.key
                  and (p.epoch is not null or coalesce(p.expires_at > ts, true))
                order by p.stream, p.work_id limit 1) h
            where s.box = p_box and s.halted_at is null and (s.available_at is null or s.available_at <= latest)
              and (h.epoch is not null or h.available_at <= latest)
              and exists (select from :"schema".parked p
                          where p.box = p_box and p.stream = s.key
                            and (p.epoch is not null or (p.available_at <= latest
                                 and coalesce(p.expires_at > greatest(p.available_at, ts), true)))
                            and :"schema"._wanted(p.topic, exact, prefixes)))
        and not :"schema"._has_fresh(p_box, exact, prefixes, ts, latest)
        and not :"schema"._has_fresh_streamed(p_box, exact, prefixes, ts, latest);
end $$;
