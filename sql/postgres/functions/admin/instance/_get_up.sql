-- A worker does not sleep any more: producers need not notify for it.
create or replace function :"schema"._get_up(p_instance uuid) returns void
language plpgsql volatile security definer :hot as $$
declare
    ts timestamptz := clock_timestamp();
begin
    perform set_config('synchronous_commit', 'off', true);
    delete from :"schema".sleeper s where s.until > ts and s.instance_id = p_instance;
end $$;
