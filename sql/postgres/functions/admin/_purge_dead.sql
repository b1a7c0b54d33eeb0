-- Purges dead letters past their retention, at most max_messages. Returns how many.
create or replace function :"schema"._purge_dead(p_box smallint, max_messages int) returns bigint
language plpgsql volatile :hot as $$
declare
    cutoff timestamptz := clock_timestamp()
        - make_interval(secs => :"schema"._setting('retention_dead', 30 * 86400000.0) / 1000);
    ids bigint[] := array(
        select d.work_id from :"schema".dead d where d.box = p_box and d.died_at <= cutoff
        order by d.died_at limit max_messages for update skip locked);
    busy bigint[];
begin
    if p_box = 1 and ids <> '{}' then
        busy := :"schema"._busy_keys(ids);
        ids := array(select i from unnest(ids) i where i <> all (busy));
    end if;
    return :"schema"._dead_purge(p_box, ids);
end $$;
