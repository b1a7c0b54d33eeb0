-- Makes the row of an instance that is not known in a box. If an open transaction is making it just now, that one says
-- the same.
create or replace function :"schema"._register_new(
    p_instance uuid, p_box smallint, p_host text, p_pid bigint, p_concurrency int, p_exact text[], p_prefixes text[],
    ts timestamptz)
returns void language plpgsql volatile set lock_timeout = '100ms' as $$
begin
    insert into :"schema".instance_row
        (instance_id, box, host, pid, concurrency, exact, prefixes, started_at, seen_at)
    values (p_instance, p_box, p_host, p_pid, p_concurrency, p_exact, p_prefixes, ts, ts)
    on conflict do nothing;
exception when lock_not_available then
    null;
end $$;
