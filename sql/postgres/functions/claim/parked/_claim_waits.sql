-- Leases waits that are due, for a claimer that names their topic. They are parked in a place of their own
-- (parked.crash_count below 0), where no other claim looks.
create or replace function :"schema"._claim_waits(
    p_box smallint, p_epoch bigint, wanted int, due_from timestamptz, ts timestamptz, p_topic text)
returns bigint[] language plpgsql volatile :hot as $$
declare
    taken bigint[];
begin
    with free as materialized (
        select p.work_id from :"schema".parked p
        where p.box = p_box and p.epoch is null and p.stream is null and p.crash_count < 0
          and p.topic = p_topic collate "C" and p.available_at >= due_from and p.available_at <= ts
          and (p.expires_at is null or p.expires_at > ts)
        order by p.available_at, p.work_id limit wanted for update skip locked),
    leased as (
        update :"schema".parked p set epoch = p_epoch from free where p.work_id = free.work_id
        returning p.work_id)
    select array_agg(l.work_id) into taken from leased l;
    return coalesce(taken, '{}');
end $$;
