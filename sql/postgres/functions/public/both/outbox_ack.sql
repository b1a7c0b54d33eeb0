-- Marks leased messages as done in the caller's transaction; returns the work ids that it affected. An effect made in the
-- same transaction happens exactly once. A call for one message takes a short way.
create or replace function :"schema".outbox_ack(owner uuid, work_ids bigint[], epochs bigint[] default null,
                                                      subscription text default null)
returns setof bigint language plpgsql volatile security definer :hot as $$
declare
    acked bigint[];
begin
    if (owner <> '00000000-0000-0000-0000-000000000000' and cardinality(work_ids) = 1 and work_ids[1] > 0
        and coalesce(cardinality(epochs) = 1, true)) is not true then
        perform :"schema"._check_settle(owner, work_ids, epochs);
    end if;
    acked := :"schema"._ack(case when subscription is null then 0::smallint else :"schema"._reader(subscription, 0::smallint) end,
                             owner, work_ids, epochs);
    if cardinality(acked) = 1 then
        return next acked[1];
    else
        return query select unnest(acked);
    end if;
end $$;
