-- Messages that were attached before they existed are there now. Callers ask first whether any is missing.
create or replace function :"schema"._resolve_members(p_messages uuid[], p_work_ids bigint[]) returns void
language plpgsql volatile :hot as $$
begin
    update :"schema".join_member m set work_id = i.work_id
    from unnest(p_messages, p_work_ids) i(message_id, work_id) cross join lateral (
        select x.ctid as tid from :"schema".join_member x
        where x.message_id = i.message_id and x.work_id is null offset 0) x
    where m.ctid = x.tid and m.work_id is null;
end $$;
