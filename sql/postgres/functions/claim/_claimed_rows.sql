-- The messages of a claim with all their fields in order of arrival, run by run of their ids; for parked ones also what
-- their rows in parked say. (offset 0 keeps it run by run, whatever the planner estimates for ranges; it once read the
-- whole log in parallel instead.)
create or replace function :"schema"._claimed_rows(
    p_box smallint, items int8multirange, has_parked boolean, p_epoch bigint, p_owner uuid,
    p_until timestamptz)
returns setof :"schema".claimed_message language plpgsql stable rows 1000 :hot as $$
declare
    box_name constant text := case p_box when 0 then 'outbox' when 1 then 'inbox' else :"schema"._log_name(p_box) end;
begin
    -- Messages of streams mostly come straight from the log.
    if has_parked then
        has_parked := exists (
            select from :"schema".parked y where y.work_id >= lower(items) and y.work_id < upper(items) and y.box = p_box) and exists (
            select from :"schema"._ids(items) i cross join lateral (
                select from :"schema".parked y where y.work_id = i and y.box = p_box limit 1) y);
    end if;
    if not has_parked and items @> int8range(lower(items), upper(items)) then   -- one run of ids: nothing to sort
        return query
            select m.work_id, p_epoch, m.message_id, box_name, m.topic::text, m.payload, 'in_progress',
                   m.created_at, m.due_at, null::timestamptz, m.expires_at, m.stream::text,
                   m.correlation_id, m.headers, 0, 0, m.max_attempts, null::text, p_owner, p_until,
                   null::timestamptz, null::text, 1, case when m.event_type is null then 1 else 3 end, m.source::text,
                   m.external_id::text, m.causation_id, m.event_type::text, m.metadata
            from :"schema".message m where m.work_id >= lower(items) and m.work_id < upper(items)
            order by m.work_id;
        return;
    end if;
    if not has_parked then
        return query
            select m.work_id, p_epoch, m.message_id, box_name, m.topic::text, m.payload, 'in_progress',
                   m.created_at, m.due_at, null::timestamptz, m.expires_at, m.stream::text,
                   m.correlation_id, m.headers, 0, 0, m.max_attempts, null::text, p_owner, p_until,
                   null::timestamptz, null::text, 1, case when m.event_type is null then 1 else 3 end, m.source::text,
                   m.external_id::text, m.causation_id, m.event_type::text, m.metadata
            from unnest(items) r cross join lateral (
                select * from :"schema".message x where x.work_id >= lower(r) and x.work_id < upper(r)
                order by x.work_id offset 0) m
            order by m.work_id;
        return;
    end if;
    return query
        select m.work_id, p_epoch, m.message_id, box_name, m.topic::text, m.payload, 'in_progress',
               m.created_at, m.due_at, null::timestamptz,
               case when p.work_id is null then m.expires_at else p.expires_at end, m.stream::text,
               m.correlation_id, m.headers, coalesce(p.retry_count, 0), greatest(p.crash_count, 0),
               m.max_attempts, p.last_error, p_owner, p_until, null::timestamptz, null::text,
               coalesce(p.retry_count, 0) + 1, coalesce(g.flags::int, 0) | case when m.event_type is null then 1 else 3 end,
               m.source::text, m.external_id::text, m.causation_id, m.event_type::text, m.metadata
        from unnest(items) r cross join lateral (
            select * from :"schema".message x where x.work_id >= lower(r) and x.work_id < upper(r)
            order by x.work_id offset 0) m
        left join lateral (select * from :"schema".parked y where y.work_id = m.work_id and y.box = p_box offset 0) p on true
        left join lateral (select z.flags from :"schema".stage z where z.work_id = m.work_id offset 0) g on true
        order by m.work_id;
end $$;
