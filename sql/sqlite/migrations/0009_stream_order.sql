-- Heads of streams in order of arrival: among messages that became available at once the partition, a hash, stood first,
-- so that a claim changed pages all over the file.
drop index boxcar_parked_available;
drop index boxcar_parked_topic;
create index boxcar_parked_available on boxcar_parked (box, state, available_at, work_id, partition)
    where state <> 2 and state <> 3;
create index boxcar_parked_topic on boxcar_parked (box, state, topic, available_at, work_id, partition)
    where state <> 2 and state <> 3;
