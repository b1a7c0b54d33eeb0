-- A worker says that it lives and serves a box. A crash may lose this: the next heartbeat comes in seconds.
create or replace function :"schema"._heartbeat(
    p_instance uuid, p_box smallint, p_host text, p_pid bigint, p_concurrency int, p_exact text[], p_prefixes text[])
returns void language plpgsql volatile security definer :hot as $$
begin
    perform set_config('synchronous_commit', 'off', true);
    perform :"schema"._register(p_instance, p_box, p_host, p_pid, p_concurrency, p_exact, p_prefixes);
end $$;
