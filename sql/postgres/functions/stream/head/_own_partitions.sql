-- The partitions that belong to a worker: those of its rank among the workers of its box that handle the same topics
-- and live (instance_timeout). workers: how many of these there are. own is null for an owner that is none of them.
-- is_shared: there is a cap, so another partition may belong to no worker.
create or replace function :"schema"._own_partitions(
    p_box smallint, p_owner uuid, ts timestamptz, out own int4range, out workers int, out is_shared boolean)
language plpgsql stable :hot as $$
declare
    partitions constant bigint := :"schema"._setting('partition_count', 10000);
    cap constant int := :"schema"._setting('partitions_per_instance_max', 0);
    live_from constant timestamptz := ts - make_interval(secs => :"schema"._setting('instance_timeout', 30000) / 1000);
    rank bigint;
    is_known boolean;
begin
    select count(*), count(*) filter (where r.instance_id < p_owner), bool_or(r.instance_id = p_owner)
    into workers, rank, is_known
    from :"schema".instance_row r
    where r.box = p_box and r.seen_at > live_from and (r.exact, r.prefixes) = (
        select me.exact, me.prefixes from :"schema".instance_row me where me.instance_id = p_owner and me.box = p_box);
    is_shared := cap > 0;
    if is_known then
        own := int4range((rank * partitions / workers)::int, ((rank + 1) * partitions / workers)::int);
        if cap > 0 then
            own := own * int4range(lower(own), lower(own) + cap);
        end if;
    end if;
end $$;
