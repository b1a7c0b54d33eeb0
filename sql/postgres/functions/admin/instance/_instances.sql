-- The live workers by box, topics and rank, with the partitions that each should have and the messages that it holds.
create or replace function :"schema"._instances()
returns table (instance_id uuid, host text, pid bigint, concurrency int, started_at timestamptz, seen_at timestamptz,
               rank int, first_partition int, partition_count int, leased bigint, oldest_lease_at timestamptz, box text, reader int)
language plpgsql stable security definer :hot as $$
#variable_conflict use_column
declare
    sees boolean := :"schema"._sees_owners();
begin
    return query
        select case when sees then v.instance_id else :"schema"._veil(v.instance_id) end, v.host, v.pid, v.concurrency, v.started_at, v.seen_at, v.rank, v.first_partition,
               v.partition_count, h.leased, h.oldest, v.box, v.reader::int
        from :"schema"._instance v cross join lateral (
            select coalesce(sum((select sum(upper(r) - lower(r)) from unnest(l.items) r)), 0)::bigint as leased,
                   to_timestamp(min(l.epoch) / 1000000.0) as oldest   -- epochs follow the clock
            from :"schema".lease l where l.owner = v.instance_id and l.box = v.reader) h
        where v.rank is not null order by v.box desc, v.topics, v.rank;
end $$;
