-- About how many rows a table of this schema has, as the planner's statistics know it.
create or replace function :"schema"._row_estimate(table_name text) returns double precision
language plpgsql stable :pinned as $$
begin
    return (select greatest(c.reltuples, s.n_live_tup) from pg_class c
            left join pg_stat_all_tables s on s.relid = c.oid
            where c.oid = format('%I.%I', :'schema', table_name)::regclass);
end $$;
