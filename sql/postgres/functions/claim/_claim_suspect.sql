-- Leases one suspect (a message that an expired lease released), plain or at the head of its stream (with_streams). A
-- suspect goes out alone, so that the next crash charges only it (BX-003).
create or replace function :"schema"._claim_suspect(
    p_box smallint, p_epoch bigint, due_from timestamptz, ts timestamptz, exact text[], prefixes text[],
    with_streams boolean, p_owner uuid, p_except text, has_turn boolean)
returns bigint[] language plpgsql volatile :hot as $$
declare
    taken bigint;
begin
    with free as materialized (
        select p.work_id from :"schema".parked p
        where p.box = p_box and p.epoch is null and p.stream is null and p.crash_count > 0
          and p.available_at >= due_from and p.available_at <= ts
          and (p.expires_at is null or p.expires_at > ts)
          and :"schema"._wanted(p.topic, exact, prefixes)
        order by p.available_at, p.work_id limit 1 for update skip locked)
    update :"schema".parked p set epoch = p_epoch from free where p.work_id = free.work_id and p.box = p_box
    returning p.work_id into taken;
    if taken is not null then
        return array[taken];
    end if;
    if not with_streams then
        return '{}'::bigint[];
    end if;
    return :"schema"._claim_heads(p_box, p_epoch, 1, true, due_from, ts, exact, prefixes, p_owner, p_except, has_turn);
end $$;
