-- Leases the heads of streams whose turn has come. Only under the turn, and only while every window
-- of the streamed lane is sorted in whole (see _sort_streams). The row in stream says when to look;
-- the true head is looked up here, since an earlier message may have come in meanwhile.
create or replace function :"schema"._claim_heads(
    p_box smallint, p_epoch bigint, wanted int, p_suspect boolean, due_from timestamptz, ts timestamptz,
    exact text[], prefixes text[])
returns bigint[] language plpgsql volatile :hot as $$
declare
    taken bigint[];
begin
    if not exists (select from :"schema".stream s
                   where s.box = p_box and s.suspect = p_suspect
                     and s.available_at >= due_from and s.available_at <= ts) then
        return '{}';
    end if;
    with due as materialized (
        select s.key from :"schema".stream s
        left join lateral (
            select p.topic from :"schema".parked p where p.box = p_box and p.stream = s.key
            order by p.work_id limit 1) h on true
        where s.box = p_box and s.suspect = p_suspect and s.available_at >= due_from and s.available_at <= ts
          and (h.topic is null or :"schema"._wanted(h.topic, exact, prefixes))
        order by s.available_at limit wanted for update of s skip locked),
    head as materialized (
        select d.key, h.work_id, h.available_at, h.crash_count,
               h.epoch is null and h.available_at <= ts and (h.crash_count > 0) = p_suspect
                   and (h.expires_at is null or h.expires_at > ts) as go
        from due d left join lateral (
            select p.work_id, p.available_at, p.crash_count, p.expires_at, p.epoch from :"schema".parked p
            where p.box = p_box and p.stream = d.key
            order by p.work_id limit 1) h on true),
    -- A head that somebody is burying just now is passed over: waiting for him under the turn, while he
    -- waits for the stream, would be a deadlock.
    free as materialized (
        select p.work_id from :"schema".parked p join head h on h.go and p.work_id = h.work_id
        where p.epoch is null for update of p skip locked),
    leased as (
        update :"schema".parked p set epoch = p_epoch from free
        where p.work_id = free.work_id returning p.work_id),
    held as (
        update :"schema".stream s
        set available_at = case when not exists (select from leased l where l.work_id = h.work_id)
                                then greatest(h.available_at, ts) end,
            suspect = h.crash_count > 0
        from head h where s.box = p_box and s.key = h.key and h.work_id is not null),
    empty as (
        delete from :"schema".stream s using head h
        where s.box = p_box and s.key = h.key and h.work_id is null)
    select array_agg(l.work_id) into taken from leased l;
    return coalesce(taken, '{}');
end $$;
