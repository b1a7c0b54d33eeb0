-- Messages were attached before they existed, and exist now: gives their members the work ids.
create or replace function :"schema"._resolve_members(p_messages uuid[], p_work_ids bigint[]) returns void
language plpgsql volatile :hot as $$
begin
    with waiting as (
        select x.ctid as tid, i.work_id
        from unnest(p_messages, p_work_ids) i(message_id, work_id) cross join lateral (
            select x.ctid, x.join_id, x.message_id from :"schema".join_member x
            where x.message_id = i.message_id and x.work_id is null offset 0) x
        order by x.join_id, x.message_id)
    update :"schema".join_member m set work_id = w.work_id from waiting w
    where m.ctid = w.tid and m.work_id is null;
end $$;
