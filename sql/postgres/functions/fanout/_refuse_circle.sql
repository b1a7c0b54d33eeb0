-- Would messages go round in a circle with this new policy of the outbox: could a copy match it again, or come back to it through
-- policies that there are? The shortest such way is named. BX003: it would. Copies in other stores cannot be seen here.
create or replace function :"schema"._refuse_circle(
    p_name text, p_patterns text[], p_destinations text[], p_then_topic text, p_else_topic text)
returns void language plpgsql stable :pinned as $$
declare
    reached text[] := array[p_name];
    ways text[] := array[p_name];
    next text[];
    i int := 1;
begin
    while i <= cardinality(reached) loop
        with policy as (
            select split_part(r.name, '/', 1) as name, r.patterns, r.destinations, r.then_topic, r.else_topic from :"schema".reader r
            where r.box = 0 and r.destinations is not null and r.name is not null
            union all select p_name, p_patterns, p_destinations, p_then_topic, p_else_topic)
        select array_agg(distinct b.name) into next
        from (select distinct c.stem, c.is_prefix
              from policy a cross join lateral :"schema"._copy_topics(a.patterns, a.destinations, a.then_topic, a.else_topic) c
              where a.name = reached[i]) c
        join (select distinct x.name, p.pattern, left(p.pattern, -1) as start, p.pattern like '%*' as is_prefix
              from policy x, unnest(x.patterns) p(pattern)
              where x.name <> all (reached[2:])) b   -- one that is reached already says nothing new
            on case when not b.is_prefix   -- as _may_match, which is slow here
                    then case when c.is_prefix then starts_with(b.pattern, c.stem) else b.pattern = c.stem end
                    when c.is_prefix then starts_with(c.stem, b.start) or starts_with(b.start, c.stem)
                    else starts_with(c.stem, b.start) end;
        if p_name = any (next) then
            raise exception using errcode = 'BX003',
                message = 'a copy would come back: ' || ways[i] || ' -> ' || p_name || '; choose other destinations or patterns';
        end if;
        select ways || coalesce(array_agg(ways[i] || ' -> ' || n order by n), '{}'), reached || coalesce(array_agg(n order by n), '{}')
        into ways, reached from unnest(next) n where n <> all (reached);
        i := i + 1;
    end loop;
end $$;
