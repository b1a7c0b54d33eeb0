-- Leases parked messages that are due, oldest first. Works with and without the turn: rows are
-- locked with SKIP LOCKED and re-checked, so two claimers never get the same one. p_waits: only waits, which have this
-- topic. They are parked in a place of their own (parked.crash_count below 0), where no other claim looks.
create or replace function :"schema"._claim_parked(
    p_box smallint, p_epoch bigint, wanted int, due_from timestamptz, ts timestamptz, exact text[],
    prefixes text[], p_waits text)
returns bigint[] language plpgsql volatile :hot as $$
declare
    candidates bigint[];
    taken bigint[];
begin
    if p_waits is not null then
        candidates := array(
            select p.work_id from :"schema".parked p
            where p.box = p_box and p.epoch is null and p.stream is null and p.crash_count < 0
              and p.topic = p_waits collate "C" and p.available_at >= due_from and p.available_at <= ts
              and (p.expires_at is null or p.expires_at > ts)
            order by p.available_at, p.work_id limit wanted for update skip locked);
    elsif exact is null and prefixes is null then
        candidates := array(
            select p.work_id from :"schema".parked p
            where p.box = p_box and p.epoch is null and p.stream is null and p.crash_count = 0
              and p.available_at >= due_from and p.available_at <= ts
              and (p.expires_at is null or p.expires_at > ts)
            order by p.available_at, p.work_id limit wanted for update skip locked);
    else
        candidates := array(
            select c.work_id
            from unnest(:"schema"._parked_topics(p_box, exact, prefixes)) t(topic), lateral (
                select p.work_id, p.available_at from :"schema".parked p
                where p.box = p_box and p.epoch is null and p.stream is null and p.crash_count = 0
                  and p.topic = t.topic collate "C"
                  and p.available_at >= due_from and p.available_at <= ts
                  and (p.expires_at is null or p.expires_at > ts)
                order by p.available_at, p.work_id limit wanted for update skip locked) c
            order by c.available_at, c.work_id limit wanted);
    end if;
    if candidates = '{}' then
        return candidates;
    end if;
    with free as materialized (
        select p.work_id from :"schema".parked p
        where p.work_id = any (candidates) and p.box = p_box and p.epoch is null
        order by p.work_id for update skip locked),
    leased as (
        update :"schema".parked p set epoch = p_epoch from free where p.work_id = free.work_id and p.box = p_box
        returning p.work_id)
    select array_agg(l.work_id) into taken from leased l;
    return coalesce(taken, '{}');
end $$;
