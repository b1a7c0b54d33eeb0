-- Evaluates waits that the caller holds: each is acked together with its continuation, put off while its join is
-- pending, or failed when there is no such join. Arrays go together by position; so do the outcomes: 0 lease lost, 1
-- put off, 2 continuation on_complete, 3 continuation on_fail, 4 none wanted, 5 no such join. The joins stay locked
-- until the commit: a transaction that ends one afterwards finds the waits put off and wakes them. Waits for a join
-- that another transaction holds for long are put off for a second.
create or replace function :"schema"._resolve(
    p_box smallint, p_owner uuid, ids bigint[], epochs bigint[], joins uuid[], allow_failures boolean[],
    complete_topics text[], complete_payloads text[], fail_topics text[], fail_payloads text[],
    correlations text[], continuations uuid[])
returns bigint[] language plpgsql volatile security definer :hot as $$
#variable_conflict use_column
declare
    ts timestamptz := clock_timestamp();
    ours record;
    held bigint[];   -- epochs, null where the lease is lost
    locked uuid[];
    outcomes bigint[];
    part record;
begin
    if (cardinality(ids) = all (array[
            cardinality(joins), cardinality(allow_failures), cardinality(complete_topics), cardinality(complete_payloads),
            cardinality(fail_topics), cardinality(fail_payloads), cardinality(correlations), cardinality(continuations)]))
       is not true then
        perform :"schema"._invalid('work_ids', 'and what goes with them must have as many entries each');
    end if;
    perform :"schema"._sign_of_life(p_owner);
    select * into ours from :"schema"._take_each(p_box, p_owner, ids, epochs, 0, null, null);
    held := array(   -- an id that is given again has none
        select case when i.repetition = 1 then t.epoch end
        from (select u.id, u.n, row_number() over (partition by u.id order by u.n) as repetition
              from unnest(ids) with ordinality u(id, n)) i
        left join unnest(ours.taken, ours.taken_epochs) t(id, epoch) on t.id = i.id order by i.n);
    locked := array(select i.join_id from unnest(joins, :"schema"._lock_in_time(joins)) i(join_id, lane)
                    where i.lane is not null);
    perform :"schema"._settle_joins(array(
        select i from unnest(locked) i cross join lateral (
            select j.status from :"schema".join_row j where j.join_id = i limit 1) j
        where j.status = 0), ts);
    outcomes := array(
        select case
            when i.epoch is null then 0
            when j.join_id is null then 5
            when j.status = 0 or j.join_id <> all (locked) then 1
            when j.status = 3 or j.reason is not null or not i.allow_failures and p.failed_steps > 0 then
                case when i.fail_topic is null then 4 else 3 end
            else 2 end
        from unnest(held, joins, allow_failures, fail_topics) with ordinality
            i(epoch, join_id, allow_failures, fail_topic, n)
        left join lateral (
            select j.join_id, j.status, j.reason, j.last_lane from :"schema".join_row j
            where j.join_id = i.join_id limit 1) j on true
        left join lateral (
            select sum(p.failed_steps) as failed_steps
            from generate_series(0, j.last_lane) l(lane) cross join lateral (
                select p.failed_steps from :"schema".join_progress p
                where p.join_id = j.join_id and p.lane = l.lane order by p.seq desc limit 1) p) p on true
        order by i.n);

    select array_agg(i.continuation order by i.n) as ids,
           array_agg(case i.outcome when 2 then i.complete_topic else i.fail_topic end order by i.n) as topics,
           array_agg(case i.outcome when 2 then i.complete_payload else i.fail_payload end order by i.n) as payloads,
           array_agg(i.correlation order by i.n) as correlations, array_agg(m.message_id::text order by i.n) as causations
    into part
    from unnest(outcomes, continuations, complete_topics, complete_payloads, fail_topics, fail_payloads, correlations, ids)
        with ordinality i(outcome, continuation, complete_topic, complete_payload, fail_topic, fail_payload,
                          correlation, id, n)
    cross join lateral (select m.message_id from :"schema".message m where m.work_id = i.id limit 1) m
    where i.outcome in (2, 3);
    if part.ids is not null then
        perform :"schema"._enqueue_messages(p_box, part.ids, part.topics, part.payloads, part.correlations, null, null,
                                   null, null, null, null, false, causations => part.causations);
    end if;

    select array_agg(i.id) as ids, array_agg(i.epoch) as epochs into part
    from unnest(ids, held, outcomes) i(id, epoch, outcome) where i.outcome in (2, 3, 4);
    if part.ids is not null then
        insert into :"schema".finished (first_id, last_id, box, epoch, owner, at)
        select i.id, i.id, p_box, i.epoch, p_owner, ts from unnest(part.ids, part.epochs) i(id, epoch);
        insert into :"schema".tally_delta (first_id, last_id, box) select i, i, p_box from unnest(part.ids) i;
        perform :"schema"._unpark(p_box, part.ids, part.epochs, ts);
        if :"schema"._is_step(:"schema"._multirange(part.ids)) then
            perform :"schema"._count_steps(:"schema"._multirange(part.ids), 1::smallint, ts);
        end if;
    end if;

    select array_agg(i.id) as ids, array_agg(i.epoch) as epochs, array_agg(j.join_id) as joins,
           -- The acks above may have ended the join: then the wait is due at once.
           array_agg(case when j.join_id = any (locked) and j.status <> 0 then 0
                          when j.join_id = any (locked) then ceil(extract(epoch from least(
               greatest(interval '1 second', least(interval '1 minute', ts - m.created_at)),
               j.deadline - ts)) * 1000)::bigint else 1000 end) as delays
    into part
    from unnest(ids, held, outcomes, joins) i(id, epoch, outcome, join_id)
    cross join lateral (
        select j.join_id, j.deadline, j.status from :"schema".join_row j where j.join_id = i.join_id limit 1) j
    cross join lateral (select m.created_at from :"schema".message m where m.work_id = i.id limit 1) m
    where i.outcome = 1;
    if part.ids is not null then
        perform :"schema"._release(p_box, part.ids, array_fill(p_owner, array[cardinality(part.ids)]), part.epochs,
                                   null, part.delays, array_fill(null::text, array[cardinality(part.ids)]), ts);
        -- The wait did not kill its worker: the end of its join must find it among ordinary work.
        update :"schema".parked p set crash_count = 0 where p.work_id = any (part.ids) and p.box = p_box and p.crash_count > 0;
        insert into :"schema".join_wait (join_id, work_id)
        select i.join_id, i.id from unnest(part.joins, part.ids) i(join_id, id) order by 1, 2
        on conflict do nothing;
    end if;

    select array_agg(i.id) as ids, array_agg(i.epoch) as epochs into part
    from unnest(ids, held, outcomes) i(id, epoch, outcome) where i.outcome = 5;
    if part.ids is not null then
        insert into :"schema".attempt (work_id, at, retry_count, outcome, owner, epoch, error)
        select i.id, ts, coalesce(p.retry_count, 0), 'failed', p_owner, i.epoch, 'the join does not exist'
        from unnest(part.ids, part.epochs) i(id, epoch) left join lateral (
            select p.retry_count from :"schema".parked p where p.work_id = i.id and p.box = p_box limit 1) p on true;
        perform :"schema"._bury(p_box, part.ids, 1::smallint,
                                array_fill('the join does not exist'::text, array[cardinality(part.ids)]), ts);
    end if;
    delete from :"schema".join_wait w
    where w.ctid = any (array(
        select x.tid from unnest(joins, ids, outcomes) i(join_id, id, outcome) cross join lateral (
            select x.ctid as tid from :"schema".join_wait x where x.join_id = i.join_id and x.work_id = i.id limit 1) x
        where i.outcome > 1));
    return outcomes;
end $$;
