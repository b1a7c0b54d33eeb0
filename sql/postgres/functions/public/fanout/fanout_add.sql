-- Makes a policy: workers copy each message of a box that matches the patterns to the destinations (docs/fanout.md). A destination is a
-- topic of this store, in which {topic} stands for that of the message; store:NAME, store:NAME/TOPIC, store:NAME/inbox or
-- store:NAME/inbox/TOPIC; or tenant:HEADER. Each is a subscription name/destination. then_topic: all copies of a message are the steps
-- of a join, and there is one subscription name/all. start_at, only: as for subscription_add. BX003: the name is taken, or a copy
-- would come back.
create or replace function :"schema".fanout_add(
    name text, patterns text[], destinations text[], box text default 'outbox', start_at text default 'end', "only" boolean default false,
    then_topic text default null, else_topic text default null)
returns void language plpgsql volatile security definer :pinned as $$
declare
    start_time timestamptz;
    log constant smallint := :"schema"._box(box);
    gathers constant boolean := then_topic is not null;
    route text;
    n smallint;
begin
    perform :"schema"._check_subscription_name(name);
    perform :"schema"._check_patterns(patterns);
    perform :"schema"._fault('', case
        when then_topic = '' or char_length(then_topic) > :topic_max then array['then_topic', 'must have 1 to :topic_max characters, or be null']
        when else_topic = '' or char_length(else_topic) > :topic_max then array['else_topic', 'must have 1 to :topic_max characters, or be null']
        when else_topic is not null and not gathers then array['else_topic', 'needs a then_topic'] end);
    perform :"schema"._check_destinations(name, destinations, gathers);
    start_time := :"schema"._start_time(start_at);
    if gathers then   -- where {topic} is in it, each message tells
        perform :"schema"._invalid(
            format('destinations[%s]', d.place - 1),
            'cannot be a step of a join: a subscription takes the topic away from the main reader, which joins follow')
        from unnest(destinations) with ordinality d(topic, place)
        where position('{topic}' in d.topic) = 0 and :"schema"._is_taken_away(d.topic);
    end if;
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception using errcode = 'BX004', message = 'fanout_add works under READ COMMITTED only';
    end if;
    perform :"schema"._claim_name(name);
    if log = 0 then
        perform :"schema"._refuse_circle(name, patterns, destinations, then_topic, else_topic);
    end if;
    foreach route in array case when gathers then array['all'] else destinations end loop
        n := :"schema"._add_reader(name || '/' || route, log, patterns, coalesce("only", false), start_at, start_time, null, null);
        update :"schema".reader r
        set destinations = case when gathers then fanout_add.destinations else array[route] end, then_topic = fanout_add.then_topic,
            else_topic = fanout_add.else_topic
        where r.number = n;
    end loop;
    if "only" then   -- last: it keeps claims of the main reader out
        perform :"schema"._set_rule(log);
    end if;
end $$;
