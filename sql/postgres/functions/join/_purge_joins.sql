-- Removes joins that ended longer ago than their retention and that no message waits for (a dead wait does not wait),
-- members first, at most about max_rows rows. Returns how many joins, and whether there is more to do.
create or replace function :"schema"._purge_joins(max_rows int, out purged bigint, out more boolean)
language plpgsql volatile :hot as $$
#variable_conflict use_column
declare
    cutoff timestamptz := clock_timestamp()
        - make_interval(secs => :"schema"._setting('retention_joins', 30 * 86400000.0) / 1000);
    most constant int := 100;
    old uuid[] := array(
        select j.join_id from :"schema".join_row j
        where j.ended_at <= cutoff and not exists (
            select from :"schema".join_wait w cross join lateral (
                select from :"schema".message m where m.work_id = w.work_id limit 1) m
            where w.join_id = j.join_id and not exists (
                select from :"schema".dead d where d.work_id = w.work_id))
        order by j.ended_at limit most for update skip locked);
    removed int;
begin
    if old = '{}' then
        purged := 0;
        more := false;
        return;
    end if;
    delete from :"schema".join_member m
    where m.ctid = any (array(select x.ctid from :"schema".join_member x where x.join_id = any (old) limit max_rows));
    get diagnostics removed = row_count;
    with empty as materialized (
        select o as join_id from unnest(old) o
        where not exists (select from :"schema".join_member m where m.join_id = o)),
    spans as (delete from :"schema".join_span s using empty e where s.join_id = e.join_id),
    outcomes as (delete from :"schema".join_outcome o using empty e where o.join_id = e.join_id),
    counters as (delete from :"schema".join_progress p using empty e where p.join_id = e.join_id),
    waits as (delete from :"schema".join_wait w using empty e where w.join_id = e.join_id),
    gone as (delete from :"schema".join_row j using empty e where j.join_id = e.join_id returning j.join_id)
    select count(*) into purged from gone;
    more := removed >= max_rows or cardinality(old) >= most;
end $$;
