-- Removes a schedule. Messages that are enqueued stay.
create or replace function :"schema".schedule_remove(topic text, work_key text) returns void
language plpgsql volatile security definer :pinned set lock_timeout = '5s' as $$
declare
    s constant :"schema".schedule_row := :"schema"._hold_schedule(topic, work_key);
begin
    delete from :"schema".schedule_shard x where x.id = s.id;
    delete from :"schema".schedule_row x where x.id = s.id;
end $$;
