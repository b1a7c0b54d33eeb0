-- outbox_ack for the inbox: done, in the caller's transaction; an effect made in the same one happens exactly once.
create or replace function :"schema".inbox_ack(owner uuid, work_ids bigint[], epochs bigint[] default null)
returns setof bigint language plpgsql volatile security definer :hot as $$
begin
    perform :"schema"._check_settle(owner, work_ids, epochs);
    return query select unnest(:"schema"._ack(1::smallint, owner, work_ids, epochs));
end $$;
