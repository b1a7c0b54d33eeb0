-- The joins that this transaction has ended, without their texts: for the library's log.
create or replace function :"schema"._joins_ended()
returns table (join_id uuid, expected_steps int, completed_steps int, failed_steps int, status text, reason text)
language plpgsql stable security definer :hot as $$
#variable_conflict use_column
begin
    return query
        select v.join_id, v.expected_steps, v.completed_steps, v.failed_steps, v.status, v.reason
        from unnest(array(select j.join_id from :"schema".join_row j
                          where j.ended_xid = pg_current_xact_id_if_assigned())) i
        cross join lateral (select * from :"schema".outbox_join v where v.join_id = i limit 1) v;
end $$;
