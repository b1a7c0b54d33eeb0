-- The work that a batch gets from one box: what it claims there, and in addition what it wants back. It claims the
-- messages that it has stored itself first, if it asks for that (answer: what was done for this part). claimed: how many
-- it has claimed. The caller has called _before_claim.
create or replace function :"schema"._batch_work(
    p_box smallint, p_owner uuid, part jsonb, answer jsonb, out work :"schema".claimed_message[], out claimed int)
language plpgsql volatile :hot as $$
declare
    lease constant interval := coalesce((part ->> 'lease')::interval, interval '30 seconds');
    wanted int := coalesce((part #>> '{claim,batch_size}')::int, 0);
    topics record;
    got record;
begin
    work := '{}';
    if wanted > 0 then
        select * into topics from :"schema"._batch_topics(part);
        if part #> '{claim,stored}' = 'true' then
            work := :"schema"._lease_stored(
                p_box, p_owner, lease, wanted, topics.exact, topics.prefixes,
                array(select (e.o ->> 'work_id')::bigint from jsonb_array_elements(answer -> 'messages') e(o)
                      where e.o -> 'duplicate' = 'false'), null, 64 << 20);
        end if;
        if cardinality(work) < wanted then
            got := :"schema"._claim_items(p_box, p_owner, lease, wanted - cardinality(work), topics.exact, topics.prefixes,
                                          true, null, false, 64 << 20);
            if got.items is not null then
                work := work || array(
                    select c from :"schema"._claimed_rows(p_box, got.items, got.has_parked, got.epoch, p_owner, got.until) c);
            end if;
        end if;
    end if;
    claimed := cardinality(work);
    if part ->> 'return' is not null then   -- the messages that it renewed, or all that its owner holds
        work := work || :"schema"._owned_work(
            p_box, p_owner, array(select c.work_id from unnest(work) c),
            case part ->> 'return' when 'renewed' then array(
                select (e.o #>> '{}')::bigint from jsonb_array_elements(answer -> 'renews') e(o)) end);
    end if;
end $$;
