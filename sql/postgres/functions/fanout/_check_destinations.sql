-- The rules for the destinations of a policy (core/fanout.c has the same for C callers). p_name: the policy's, which is a part of the
-- names of its subscriptions. gathers: it has a then_topic, so that all of them are topics of this store.
create or replace function :"schema"._check_destinations(p_name text, destinations text[], gathers boolean) returns void
language plpgsql immutable :pinned as $$
declare
    one text;
    topic text;
begin
    if array_ndims(destinations) > 1 or coalesce(cardinality(destinations), 0) not between 1 and :destination_count_max then
        perform :"schema"._invalid('destinations', 'must be 1 to :destination_count_max');
    elsif (select count(distinct d) from unnest(destinations) d) < cardinality(destinations) then
        perform :"schema"._invalid('destinations', 'must differ from each other, and none is null');
    end if;
    foreach one in array destinations loop
        topic := :"schema"._destination_topic(one);
        perform :"schema"._fault('', case
            when one = '' then array['destinations', 'must not be empty: give a topic, store:NAME or tenant:HEADER']
            when one ~ '[\x01-\x1f\x7f]' then array['destinations', 'have a control character: remove it']
            when one ~ '^store:(/|$)' then array['destinations', 'lack the name of a store: give store:NAME']
            when one = 'tenant:' then array['destinations', 'lack the name of a header: give tenant:HEADER']
            when gathers and one ~ '^(store|tenant):'
                then array['destinations', 'must be topics of this store, as then_topic is given']
            when topic = '' or char_length(topic) > :topic_max
                then array['destinations', 'must have topics of 1 to :topic_max characters']
            when topic like '%*%' then array['destinations', 'must have topics without *: {topic} stands for the topic of the message']
            when replace(topic, '{topic}', '') ~ '\{[^{}]*\}'
                then array['destinations', 'have a placeholder that stands for nothing: {topic} is the only placeholder']
            when char_length(p_name || '/' || case when gathers then 'all' else one end) > :subscription_name_max
                then array['destinations',
                           'are too long: the name, a / and a destination have at most :subscription_name_max characters'] end);
    end loop;
end $$;
