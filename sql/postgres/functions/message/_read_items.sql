-- Messages, as one reader has them, by work id with all their fields, newest first; the payload only on demand.
create or replace function :"schema"._read_items(p_reader smallint, ids bigint[], with_payload boolean) returns setof :"schema"._item
language plpgsql stable :pinned set enable_seqscan = off as $$
declare
    sees boolean := :"schema"._sees_owners();
begin
    return query
        select i.work_id, i.message_id, i.box, i.topic::text, case when with_payload then i.payload end, i.status,
               i.created_at, i.due_at, i.available_at, i.expires_at, i.stream::text, i.correlation_id, i.headers,
               i.retry_count, i.crash_count, i.max_attempts, i.last_error,
               case when sees then i.owner else :"schema"._veil(i.owner) end, i.epoch, i.locked_until, i.processed_at,
               case when sees then i.processed_by else :"schema"._veil(i.processed_by::uuid)::text end, i.reason, i.died_at,
               i.source::text, i.external_id::text, i.causation_id, i.event_type::text, i.metadata, i.stages,
               i.reader
        from :"schema"._item i where i.work_id = any (ids) and i.reader = p_reader
        order by i.work_id desc;
end $$;
