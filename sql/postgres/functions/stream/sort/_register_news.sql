-- Does the work of _register_streams for messages of which none may be late. Most of them change nothing that is known
-- of their stream: it has its row and is looked at anyway, or they were taken before they were met. So this hands on
-- only the others. Only under the turn.
create or replace function :"schema"._register_news(
    f :"schema".frontier, streams text[], topics text[], ids bigint[], is_last boolean, ts timestamptz)
returns void language plpgsql volatile :hot as $$
declare
    n constant int := cardinality(ids);
begin
    if not is_last and streams[1] = streams[n] and streams = array_fill(streams[1], array[n]) then   -- one stream: the first and the last tell all
        streams := array[streams[1], streams[n]];
        topics := array[topics[1], topics[n]];
        ids := array[(select min(i) from unnest(ids) i), (select max(i) from unnest(ids) i)];
    else
        select array_agg(x.stream), array_agg(x.topic), array_agg(x.id) into streams, topics, ids
        from unnest(streams, topics, ids) x(stream, topic, id) left join lateral (
            select s.position, s.available_at from :"schema".stream s where s.box = f.box and s.key = x.stream limit 1) s on true
        where s.position is null or s.available_at > ts and x.id > s.position;
    end if;
    if ids is not null then
        perform :"schema"._register_streams(f, streams, topics, ids, 0, is_last, ts);
    end if;
end $$;
