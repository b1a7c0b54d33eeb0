-- Removes keys of the inbox that no transaction has used for longer than their retention and whose message is gone, or
-- never was; at most max_keys. Returns how many.
create or replace function :"schema"._purge_keys(max_keys int) returns bigint
language plpgsql volatile :hot as $$
declare
    cutoff timestamptz := clock_timestamp()
        - make_interval(secs => :"schema"._setting('retention_inbox', 30 * 86400000.0) / 1000);
    removed bigint;
begin
    delete from :"schema".inbox_key k
    where k.ctid = any (array(select x.ctid from :"schema".inbox_key x
                              where x.state <> 1 and x.last_seen_at <= cutoff
                              order by x.last_seen_at limit max_keys for update skip locked));
    get diagnostics removed = row_count;
    return removed;
end $$;
