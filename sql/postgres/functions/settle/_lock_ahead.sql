-- Locks all that settling these messages will need: the leases of this owner that hold them, box by box, then their
-- streams, then joins: those in which messages that are not deferred may count, and those given by id, all at once.
-- Each kind is locked in order. For transactions that settle in more than one statement, so that two of them never wait
-- for each other. Nor do one of them and a transaction that reaps or replays.
create or replace function :"schema"._lock_ahead(
    p_owner uuid, outbox_ids bigint[], inbox_ids bigint[], outbox_defers bigint[], inbox_defers bigint[], joins uuid[])
returns void language plpgsql volatile security definer :hot as $$
declare
    outbox_parked int8multirange := :"schema"._hold_leases(0::smallint, p_owner, outbox_ids || outbox_defers);
    inbox_parked int8multirange := :"schema"._hold_leases(1::smallint, p_owner, inbox_ids || inbox_defers);
begin
    perform :"schema"._hold_streams(0::smallint, outbox_parked);
    perform :"schema"._hold_streams(1::smallint, inbox_parked);
    perform :"schema"._lock_in_time(array_agg(j.join_id), array_agg(j.steps))
    from (select i as join_id, null as steps from unnest(joins) i
          union all
          select s.join_id, sum(s.last_id - s.first_id + 1)::bigint
          from :"schema"._steps(:"schema"._multirange(outbox_ids || inbox_ids)) s
          group by s.join_id) j
    having count(*) > 0;
end $$;
