-- Removes evidence of work out of order past the retention of dead letters, at most max_rows. Returns how many.
create or replace function :"schema"._purge_violations(p_box smallint, max_rows int) returns bigint
language plpgsql volatile :hot as $$
declare
    cutoff timestamptz := clock_timestamp()
        - make_interval(secs => :"schema"._setting('retention_dead', 30 * 86400000.0) / 1000);
    removed bigint;
begin
    delete from :"schema".stream_violation v
    where v.ctid = any (array(select x.ctid from :"schema".stream_violation x where x.box = p_box and x.at <= cutoff
                              order by x.at limit max_rows for update skip locked));
    get diagnostics removed = row_count;
    return removed;
end $$;
