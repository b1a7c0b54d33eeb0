-- Counters of done messages that are not folded yet, each with the number that it stands for: all of them, or if there
-- are more than `most`, those in 512 blocks of the table, spread evenly. The rows of a block are read by their
-- addresses: it has at most 291.
create or replace function :"schema"._delta_sample(p_box smallint, most int)
returns table (first_id bigint, last_id bigint, weight double precision)
language plpgsql stable rows 20000 :pinned as $$
declare
    looked_at constant int := 512;
    blocks bigint := pg_relation_size(':"schema".tally_delta') / current_setting('block_size')::bigint;
    met bigint := (select count(*) from (select from :"schema".tally_delta d limit most + 1) x);
begin
    if met <= most or blocks <= looked_at then
        return query
            select d.first_id, d.last_id, 1::double precision from :"schema".tally_delta d where d.box = p_box;
        return;
    end if;
    return query
        select d.first_id, d.last_id, blocks::double precision / looked_at
        from :"schema".tally_delta d
        where d.box = p_box and d.ctid = any (array(
            select format('(%s,%s)', blocks * b / looked_at, i)::tid
            from generate_series(0, looked_at - 1) b, generate_series(1, 291) i));
end $$;
