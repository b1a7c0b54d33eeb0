-- Claims for a batch from one box; empty when the batch claims nothing there. First the messages that the batch itself
-- has stored (stored, work ids), if it asks for that. The caller has called _before_claim.
create or replace function :"schema"._claim_part(p_box smallint, p_owner uuid, part jsonb, stored bigint[] default null)
returns :"schema".claimed_message[] language plpgsql volatile :hot as $$
declare
    lease constant interval := coalesce((part ->> 'lease')::interval, interval '30 seconds');
    topics record;
    got record;
    own :"schema".claimed_message[] := '{}':::"schema".claimed_message[];
    wanted int := (part #>> '{claim,batch_size}')::int;
begin
    if coalesce(wanted, 0) = 0 then
        return '{}':::"schema".claimed_message[];
    end if;
    select * into topics from :"schema"._batch_topics(part);
    if part #> '{claim,stored}' = 'true' and stored <> '{}' then
        own := :"schema"._lease_stored(
            p_box, p_owner, lease, wanted, topics.exact, topics.prefixes, stored, null, 64 << 20);
        wanted := wanted - cardinality(own);
    end if;
    if wanted = 0 then
        return own;
    end if;
    got := :"schema"._claim_items(
        p_box, p_owner, lease, wanted, topics.exact, topics.prefixes, true, null, false, 64 << 20);
    if got.items is null then
        return own;
    end if;
    return own || array(
        select c from :"schema"._claimed_rows(p_box, got.items, got.has_parked, got.epoch, p_owner, got.until) c);
end $$;
