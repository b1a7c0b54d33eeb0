-- Notes that a worker lives and serves a box, whether it is known or was removed meanwhile. Topics are sorted: workers
-- that handle the same ones share partitions.
create or replace function :"schema"._register(
    p_instance uuid, p_box smallint, p_host text, p_pid bigint, p_concurrency int, p_exact text[], p_prefixes text[])
returns void language plpgsql volatile security definer :hot as $$
declare
    ts timestamptz := clock_timestamp();
begin
    insert into :"schema".instance_row as r
        (instance_id, box, host, pid, concurrency, exact, prefixes, started_at, seen_at)
    values (p_instance, p_box, p_host, p_pid, p_concurrency, array(select t from unnest(p_exact) t order by t),
            array(select t from unnest(p_prefixes) t order by t), ts, ts)
    on conflict (instance_id, box) do update
    set host = excluded.host, pid = excluded.pid, concurrency = excluded.concurrency,
        exact = excluded.exact, prefixes = excluded.prefixes, seen_at = excluded.seen_at;
end $$;
