-- Everything that a worker reports and wants, in one statement and one transaction: new messages, results, renewals, a
-- heartbeat and claims, for the outbox and the inbox (docs/coordinator.md). The answer is one row: a header that says
-- for each id what happened, and the work that was claimed, so an empty batch still answers. A batch with a heartbeat,
-- or with stale_threshold_seconds, also removes instances that were silent for that long. partition_count: the number
-- of partitions that the store must have; a store that never had a message in a stream adopts it.
--
-- If anything is wrong, nothing is done: BX001, whose message and detail name every fault. Locks are taken in the
-- order in which the library takes them: keys of the inbox and unique keys first, the claimers' turns last. Its claims
-- are claims inside a transaction of the caller, as those of outbox_claim.
create or replace function :"schema".process_work_batch(owner uuid, batch jsonb)
returns :"schema".work_batch_result language plpgsql volatile security definer :hot as $$
#variable_conflict use_variable
declare
    outbox jsonb := :"schema"._without_nulls(batch -> 'outbox');
    inbox jsonb := :"schema"._without_nulls(batch -> 'inbox');
    heartbeat jsonb := nullif(batch -> 'heartbeat', 'null');
    threshold double precision;
    faults jsonb;
    settled record;
    also_settled record;
    keys uuid[];
    messages jsonb := '{}'::jsonb;
    inbox_messages jsonb := '{}'::jsonb;
    outbox_got record;
    inbox_got record;
    result :"schema".work_batch_result;
begin
    select jsonb_agg(jsonb_build_object('argument', f.argument, 'problem', f.problem)) into faults
    from :"schema"._batch_faults(owner, batch) f;
    if faults is not null then
        raise exception using errcode = 'BX001', column = faults #>> '{0,argument}', detail = faults::text,
            message = (select string_agg(f.value ->> 'argument' || ' ' || (f.value ->> 'problem'), '; ' order by f.n)
                       from jsonb_array_elements(faults) with ordinality f(value, n));
    end if;
    threshold := (batch ->> 'stale_threshold_seconds')::double precision;
    if batch ->> 'partition_count' is not null then
        perform :"schema"._want_partitions((batch ->> 'partition_count')::numeric::int);
    end if;
    outbox := :"schema"._with_work_ids(0::smallint, outbox);
    inbox := :"schema"._with_work_ids(1::smallint, inbox);
    perform :"schema"._sign_of_life(owner);
    if inbox ? 'messages' then
        select jsonb_build_object('messages', coalesce(jsonb_agg(jsonb_build_object(
                   'work_id', r.work_id, 'message_id', r.message_id, 'duplicate', r.duplicate,
                   'hash_mismatch', r.hash_mismatch) order by r.n), '[]'))
        into inbox_messages
        from :"schema".inbox_enqueue_many(inbox -> 'messages')
            with ordinality r(work_id, message_id, duplicate, hash_mismatch, n);
    end if;
    keys := array(
        select :"schema"._hash_id('boxcar:topic-key:', :"schema"._hash_id('boxcar:key:', m.o ->> 'key') || (m.o ->> 'topic'))
        from jsonb_array_elements(outbox -> 'messages') m(o) where m.o -> 'unique' = 'true');
    if keys <> '{}' then
        perform :"schema"._hold_keys(keys);
    end if;
    select * into settled from :"schema"._settled_ids(outbox);
    select * into also_settled from :"schema"._settled_ids(inbox);
    if settled.lists + also_settled.lists > 1 then
        perform :"schema"._lock_ahead(
            owner, settled.ids, also_settled.ids, settled.defers, also_settled.defers, '{}');
    end if;
    if outbox ? 'messages' then
        select jsonb_build_object('messages', coalesce(jsonb_agg(jsonb_build_object(
                   'work_id', r.work_id, 'message_id', r.message_id, 'duplicate', r.duplicate) order by r.n), '[]'))
        into messages
        from :"schema".enqueue_many(outbox -> 'messages') with ordinality r(work_id, message_id, duplicate, n);
    end if;
    result.header := jsonb_build_object(
        'outbox', messages || :"schema"._settle_part(0::smallint, owner, outbox));
    result.header := result.header || jsonb_build_object(
        'inbox', inbox_messages || :"schema"._settle_part(1::smallint, owner, inbox));
    if heartbeat is not null then
        perform :"schema"._beat(owner, heartbeat, case when jsonb_typeof(batch -> 'outbox') <> 'null' then outbox end,
                                case when jsonb_typeof(batch -> 'inbox') <> 'null' then inbox end);
    end if;
    if heartbeat is not null or threshold is not null then
        perform :"schema"._remove_stale(make_interval(secs => threshold));
    end if;
    -- Before the first turn, for both boxes: under a turn nothing waits.
    perform :"schema"._before_claim(c.box::smallint)
    from (values (0, outbox), (1, inbox)) c(box, part) where coalesce((c.part #>> '{claim,batch_size}')::int, 0) > 0;
    outbox_got := :"schema"._batch_work(0::smallint, owner, outbox, result.header -> 'outbox');
    inbox_got := :"schema"._batch_work(1::smallint, owner, inbox, result.header -> 'inbox');
    result.outbox_work := outbox_got.work;
    result.inbox_work := inbox_got.work;
    result.header := result.header || jsonb_build_object(
        'claimed', jsonb_build_object('outbox', outbox_got.claimed, 'inbox', inbox_got.claimed));
    return result;
end $$;
