-- _unmet_streams() from the index of streams, key by key. low: see _unmet_from. most: how many keys it looks at; the
-- answer is null if that was not enough. most null: any number. Then the index passes over finished messages, which
-- costs less for each, but has no bound.
create or replace function :"schema"._unmet_by_key(
    f :"schema".frontier, low bigint, first_key text, p_after text, last_key text, wanted int, most int)
returns text[] language plpgsql stable as $$
declare
    keys text[] := '{}'::text[];
    next_key text := p_after;
    looked int := 0;
begin
    while cardinality(keys) < wanted loop
        if looked = most then
            return null;
        end if;
        looked := looked + 1;
        if most is null then
            select m.stream into next_key from :"schema".message m
            where m.box = f.log_box and m.lane = 1 and m.stream > next_key and m.stream >= first_key and m.stream <= last_key
              and m.work_id > low and m.era = f.era and not :"schema"._is_behind(f, m.xid, m.work_id)
              and :"schema"._reads(f.choosy, f.in_exact, f.in_prefixes, f.but_exact, f.but_prefixes, f.from_time, f.from_id,
                                   m.topic, m.created_at, m.work_id)
            order by m.stream, m.work_id limit 1;
        else
            select m.stream into next_key from :"schema".message m
            where m.box = f.log_box and m.lane = 1 and m.stream > next_key and m.stream >= first_key and m.stream <= last_key
            order by m.stream, m.work_id limit 1;
        end if;
        exit when next_key is null;
        if not exists (select from :"schema".stream s where s.box = f.box and s.key = next_key collate "C")
           and (most is null or exists (select from :"schema"._unmet_head(f, low, next_key))) then
            keys := keys || next_key;
        end if;
    end loop;
    return keys;
end $$;
