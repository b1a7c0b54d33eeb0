-- Leases the heads of streams whose turn has come, and as many neighbours behind each as the claimer has room for.
-- Only under the turn, and only while every window of the streamed lane is sorted in whole (see _sort_streams). The row in
-- stream says when to look; the true head is looked up here, since an earlier message may have come in
-- meanwhile. A run ends before the first message that may not go: not due, suspect, expired, unwanted, or in
-- somebody's hands; a suspect head goes alone.
create or replace function :"schema"._claim_heads(
    p_box smallint, p_epoch bigint, wanted int, p_suspect boolean, due_from timestamptz, ts timestamptz,
    exact text[], prefixes text[], p_owner uuid)
returns bigint[] language plpgsql volatile :hot as $$
declare
    due text[];
    share int;
    found bigint[];
    taken bigint[] := '{}';
begin
    if not exists (select from :"schema".stream s
                   where s.box = p_box and s.suspect = p_suspect
                     and s.available_at >= due_from and s.available_at <= ts) then
        return '{}';
    end if;
    -- A stream that turns out to have nothing for him does not count: he looks for others instead.
    for i in 1 .. 20 loop
        due := :"schema"._due_streams(p_box, wanted - cardinality(taken), p_suspect, due_from, ts, exact, prefixes,
                                      p_owner);
        exit when due = '{}';
        share := case when p_suspect then 1 else greatest((wanted - cardinality(taken)) / cardinality(due), 1) end;
        with met as (
            select d.key, h.*, l.work_id is not null as go
            from unnest(due) d(key) left join lateral (
                select p.*, row_number() over (order by p.work_id) as n from (
                    select p.work_id, p.topic, p.available_at, p.crash_count, p.expires_at, p.epoch
                    from :"schema".parked p where p.box = p_box and p.stream = d.key
                    order by p.work_id limit share) p) h on true
            -- One that somebody is burying just now is passed over: waiting for him under the turn, while he
            -- waits for the stream, would be a deadlock.
            left join lateral (
                select p.work_id from :"schema".parked p
                where p.work_id = h.work_id and p.epoch is null and h.available_at <= ts and (h.crash_count > 0) = p_suspect
                  and (h.expires_at is null or h.expires_at > ts) and :"schema"._wanted(h.topic, exact, prefixes)
                limit 1 for update skip locked) l on true),
        run as materialized (
            select m.*, bool_and(m.go) over (partition by m.key order by m.n) as goes from met m),
        leased as (
            update :"schema".parked p set epoch = p_epoch
            where p.work_id = any (array(select r.work_id from run r where r.goes)) returning p.work_id),
        held as (
            update :"schema".stream s
            set available_at = case when not r.goes then greatest(r.available_at, ts) end,
                suspect = r.crash_count > 0, topic = r.topic
            from run r where s.box = p_box and s.key = r.key and r.n = 1),
        empty as (
            delete from :"schema".stream s using run r
            where s.box = p_box and s.key = r.key and r.n is null and s.halted_at is null)
        select coalesce(array_agg(l.work_id), '{}') into found from leased l;
        taken := taken || found;
        exit when cardinality(taken) >= wanted or cardinality(found) >= cardinality(due);
    end loop;
    return taken;
end $$;
