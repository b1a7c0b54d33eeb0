-- _unmet_streams() from the windows that claimers would read. Null: the windows have more than `most` messages (null =
-- any number).
create or replace function :"schema"._unmet_by_arrival(
    f :"schema".frontier, first_key text, p_after text, last_key text, wanted int, most int)
returns text[] language plpgsql stable as $$
declare
    beyond constant :"schema".frontier := :"schema"._next_window(f, pg_current_snapshot());
    total bigint;
    keys text[];
begin
    with w as materialized (
        select x.stream from :"schema"._window(f, most + 1) x where x.reads
        union all
        select x.stream from :"schema"._window(beyond, most + 1) x where x.reads)
    select (select count(*) from w), array(
        select k.key from (select distinct w.stream collate "C" from w) k(key)
        where k.key >= first_key and k.key > p_after and k.key <= last_key
          and not exists (select from :"schema".stream s where s.box = f.box and s.key = k.key)
        order by k.key limit wanted)
    into total, keys;
    return case when total <= most or most is null then keys end;
end $$;
