-- Counts a member as failed by hand; false: it had an outcome already, which stays.
create or replace function :"schema".join_report_failed(join_id uuid, message_id uuid)
returns boolean language plpgsql volatile security definer :hot as $$
begin
    perform :"schema"._check_join(join_id, 'message_id', array[message_id]);
    return (select r.counted from :"schema"._join_report(join_id, message_id, 2::smallint) r);
end $$;
