-- Claims what a batch asks of one box; empty when it asks nothing.
create or replace function :"schema"._claim_part(p_box smallint, p_owner uuid, part jsonb)
returns :"schema".claimed_message[] language plpgsql volatile :hot as $$
declare
    topics record;
begin
    if coalesce((part #>> '{claim,batch_size}')::int, 0) = 0 then
        return '{}';
    end if;
    select * into topics from :"schema"._batch_topics(part);
    return array(
        select c from :"schema"._claim(p_box, p_owner, coalesce((part ->> 'lease')::interval, interval '30 seconds'),
                                  (part #>> '{claim,batch_size}')::int, topics.exact, topics.prefixes, true) c
        where c.work_id > 0);
end $$;
