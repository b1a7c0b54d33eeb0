-- Records which stages of leased messages are done (1 stored, 2 event_stored, 4 published, 8 receptor_processed, 16
-- perspective_processed, added up); the leases stay. Returns the work ids that it affected.
create or replace function :"schema".outbox_record_stages(
    owner uuid, work_ids bigint[], epochs bigint[] default null, stages int default null,
    subscription text default null)
returns setof bigint language plpgsql volatile security definer :hot as $$
begin
    perform :"schema"._check_settle(owner, work_ids, epochs);
    if stages is null or stages not between 1 and 31 then
        perform :"schema"._invalid('stages', 'is missing or has unknown flags: give a sum of 1, 2, 4, 8 and 16');
    end if;
    return query select unnest(:"schema"._record_stages(
        case when subscription is null then 0::smallint else :"schema"._reader(subscription, 0::smallint) end,
        owner, work_ids, epochs, array[stages]));
end $$;
