-- Messages of one topic go into the pool, in rows of at most `most`. Ids with gaps make long rows: of those fewer.
create or replace function :"schema"._add_to_pool(p_box smallint, p_topic text, ids bigint[], most int) returns void
language plpgsql volatile as $$
declare
    n constant int := cardinality(ids);
begin
    if ids[n] - ids[1] + 1 <> n then
        most := least(most, 100);
    end if;
    insert into :"schema".pool (box, topic, size, items)
    select p_box, p_topic, least(most, n - i + 1), :"schema"._multirange(ids[i:i + most - 1])
    from generate_series(1, n, most) i;
end $$;
