-- Dead rows of Boxcar's own tables, as the server's statistics count them, and which of these tables autovacuum leaves
-- alone.
create or replace function :"schema"._table_health()
returns table (name text, live bigint, dead bigint, vacuumed_seconds double precision, is_left_alone boolean)
language plpgsql stable :pinned as $$
begin
    return query
    select c.relname::text, s.n_live_tup, s.n_dead_tup,
           extract(epoch from clock_timestamp() - greatest(s.last_vacuum, s.last_autovacuum))::double precision,
           coalesce((select not o.option_value::boolean from pg_options_to_table(c.reloptions) o
                     where o.option_name = 'autovacuum_enabled'), false)
    from pg_class c join pg_stat_all_tables s on s.relid = c.oid
    where c.relnamespace = (select n.oid from pg_namespace n where n.nspname = :'schema')
      and c.relkind = 'r'
      and c.relname in ('message', 'frontier', 'lease', 'parked', 'stream', 'stream_note', 'dead', 'attempt', 'finished',
                        'tally', 'tally_delta', 'instance_row', 'sleeper', 'join_row', 'join_progress', 'join_member',
                        'join_span', 'join_outcome', 'join_wait', 'late_step', 'inbox_key', 'stage', 'event_row',
                        'event_stream', 'event_run')
    order by s.n_dead_tup desc;
end $$;
