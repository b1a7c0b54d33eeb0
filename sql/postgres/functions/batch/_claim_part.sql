-- Claims what a batch asks of one box; empty when it asks nothing. The caller has called _before_claim.
create or replace function :"schema"._claim_part(p_box smallint, p_owner uuid, part jsonb)
returns :"schema".claimed_message[] language plpgsql volatile :hot as $$
declare
    topics record;
    got record;
begin
    if coalesce((part #>> '{claim,batch_size}')::int, 0) = 0 then
        return '{}':::"schema".claimed_message[];
    end if;
    select * into topics from :"schema"._batch_topics(part);
    got := :"schema"._claim_items(
        p_box, p_owner, coalesce((part ->> 'lease')::interval, interval '30 seconds'),
        (part #>> '{claim,batch_size}')::int, topics.exact, topics.prefixes, true, null, false, 64 << 20);
    if got.items is null then
        return '{}':::"schema".claimed_message[];
    end if;
    return array(
        select c from :"schema"._claimed_rows(p_box, got.items, got.has_parked, got.epoch, p_owner, got.until) c);
end $$;
