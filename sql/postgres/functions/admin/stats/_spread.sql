-- A sample of a table's work ids, from low on: about `most` of them, spread evenly, each with the number that it stands
-- for. It reads the first ids of each of 2,000 stretches, so neighbours with one topic do not stand for everything. If
-- there are no more than that, it is all of them, each for itself.
create or replace function :"schema"._spread(table_name text, low bigint, most int)
returns table (work_id bigint, weight double precision)
language plpgsql stable rows 20000 :hot as $$
declare
    stretches constant int := 2000;
    high bigint;
begin
    execute format('select max(m.work_id) + 1 from %I.%I m', :'schema', table_name) into high;
    return query execute format(
        'with stretch as (
             select $1 + ($2 - $1) * i / $3 as low, $1 + ($2 - $1) * (i + 1) / $3 as high from generate_series(0, $3 - 1) i),
         met as (
             select s.low, s.high, m.work_id, count(*) over of_stretch as n, max(m.work_id) over of_stretch as last
             from stretch s cross join lateral (
                 select m.work_id from %I.%I m where m.work_id >= s.low and m.work_id < s.high
                 group by m.work_id   -- several readers may have it
                 order by m.work_id limit $4) m
             window of_stretch as (partition by s.low))
         select m.work_id, (m.high - m.low)::double precision
                           / case when m.n < $4 then m.high - m.low else m.last - m.low + 1 end
         from met m', :'schema', table_name)
    using low, high, stretches, greatest(most / stretches, 1);
end $$;
