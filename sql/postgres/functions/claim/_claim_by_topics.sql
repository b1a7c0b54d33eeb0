-- The claim for callers that write topics as people do: exact, or a prefix and *. It checks the arguments.
create or replace function :"schema"._claim_by_topics(
    p_box smallint, owner uuid, lease interval, batch_size int, topics text[], alone boolean)
returns setof :"schema".claimed_message language plpgsql volatile :hot as $$
declare
    exact text[];
    prefixes text[];
begin
    perform :"schema"._check_claim(owner, lease, batch_size);
    if topics is not null then
        if topics = '{}' or exists (select from unnest(topics) t where not :"schema"._is_pattern(t)) then
            perform :"schema"._invalid('topics', 'must be topics of 1 to :topic_max characters, or prefixes and *, with no * '
                                                 'elsewhere; or null for all');
        end if;
        select coalesce(array_agg(t) filter (where t not like '%*'), '{}'),
               coalesce(array_agg(left(t, -1)) filter (where t like '%*'), '{}')
        into exact, prefixes from unnest(topics) t;
    end if;
    return query
        select * from :"schema"._claim_numbered(p_box, owner, lease, batch_size, exact, prefixes, not alone, true, null,
                                                false) c
        where c.work_id > 0;
end $$;
