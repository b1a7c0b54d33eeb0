-- Every fault of a batch for process_work_batch.
create or replace function :"schema"._batch_faults(owner uuid, batch jsonb)
returns table (argument text, problem text) language plpgsql stable as $$
declare
    lists constant text[] := array['messages', 'stages', 'acks', 'abandons', 'defers', 'fails', 'renews'];
    heartbeat jsonb := nullif(batch -> 'heartbeat', 'null');
begin
    if batch is null or jsonb_typeof(batch) <> 'object' then
        return query select 'batch', 'must be a JSON object';
        return;
    end if;
    if coalesce(owner, '00000000-0000-0000-0000-000000000000') = '00000000-0000-0000-0000-000000000000' then
        return query select 'owner', 'is missing: give the UUID of the worker';
    end if;
    return query
    select k, 'is not a known name' from jsonb_object_keys(batch) k 
    where k not in ('outbox', 'inbox', 'heartbeat', 'stale_threshold_seconds', 'partition_count')
    union all
    select 'partition_count', 'must be a whole number from 1 to :partition_count_max'
    where case jsonb_typeof(batch -> 'partition_count')
              when 'number' then (batch ->> 'partition_count')::numeric not between 1 and :partition_count_max
                                 or (batch ->> 'partition_count')::numeric % 1 <> 0
              when 'null' then false else true end and batch ? 'partition_count'
    union all
    select 'stale_threshold_seconds', 'must be a number of seconds from 1 to :stale_seconds_max'
    where case jsonb_typeof(batch -> 'stale_threshold_seconds')
              when 'number' then (batch ->> 'stale_threshold_seconds')::numeric not between 1 and :stale_seconds_max
              when 'null' then false else true end and batch ? 'stale_threshold_seconds';
    if jsonb_typeof(batch -> 'outbox') <> 'null' then
        return query select * from :"schema"._part_faults(batch -> 'outbox', 'outbox', lists);
    end if;
    if jsonb_typeof(batch -> 'inbox') <> 'null' then
        return query select * from :"schema"._part_faults(batch -> 'inbox', 'inbox', lists);
    end if;
    if heartbeat is null then
        return;
    end if;
    if jsonb_typeof(heartbeat) <> 'object' then
        return query select 'heartbeat', 'must be an object';
        return;
    end if;
    return query
    select format('heartbeat.%s', k), 'is not a known name' from jsonb_object_keys(heartbeat) k
    where k not in ('host', 'pid', 'concurrency')
    union all
    select 'heartbeat.host', 'must be a text' where jsonb_typeof(heartbeat -> 'host') not in ('string', 'null')
    union all
    select 'heartbeat.host', 'is longer than :host_max characters' where char_length(heartbeat ->> 'host') > :host_max
    union all
    select 'heartbeat.pid', 'is malformed or negative: give a whole number from 0'
    where case when :"schema"._is_castable(heartbeat ->> 'pid', 'bigint') then (heartbeat ->> 'pid')::bigint < 0 else true end
    union all
    select 'heartbeat.concurrency', 'is malformed or below 1: give a whole number from 1'
    where case when :"schema"._is_castable(heartbeat ->> 'concurrency', 'int')
               then (heartbeat ->> 'concurrency')::int < 1 else true end;
end $$;
