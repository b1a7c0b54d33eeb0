-- Leases the heads of streams whose turn has come, and as many neighbours behind each as the claimer has room for.
-- Only under the turn, and only while every window of the streamed lane is sorted in whole (see _sort_streams). The row in
-- stream says when to look; the true head is looked up here, since an earlier message may have come in
-- meanwhile. A run ends before the first message that may not go: not due, suspect, expired, unwanted, or in
-- somebody's hands; a suspect head goes alone.
create or replace function :"schema"._claim_heads(
    p_box smallint, p_epoch bigint, wanted int, p_suspect boolean, due_from timestamptz, ts timestamptz,
    exact text[], prefixes text[], p_owner uuid, p_waits text, p_named boolean)
returns bigint[] language plpgsql volatile :hot as $$
declare
    due text[];
    share int;
    got record;
    taken bigint[] := '{}';
begin
    -- A stream that turns out to have nothing for him does not count: he looks for others instead.
    for i in 1 .. 20 loop
        due := :"schema"._due_streams(p_box, wanted - cardinality(taken), p_suspect, due_from, ts, exact, prefixes,
                                      p_owner, case when not p_named then p_waits end);
        exit when due = '{}';
        share := case when p_suspect then 1 else greatest((wanted - cardinality(taken)) / cardinality(due), 1) end;
        -- A range of one key, here and wherever a stream's head is looked up: for an equation the planner may take the
        -- order of work ids from the primary key, and look through all other streams on the way.
        with met as materialized (
            select d.key, h.* from unnest(due) d(key) left join lateral (
                select p.work_id, p.topic, p.available_at, p.crash_count, p.expires_at,
                       row_number() over (order by p.work_id) as n
                from (select * from :"schema".parked p where p.box = p_box and p.stream >= d.key and p.stream <= d.key
                      order by p.stream, p.work_id limit share) p) h on true),
        -- One that somebody is burying just now is passed over: waiting for him under the turn, while he
        -- waits for the stream, would be a deadlock.
        free as materialized (
            select p.work_id from :"schema".parked p
            where p.work_id = any (array(
                select m.work_id from met m
                where m.available_at <= ts and (m.crash_count > 0) = p_suspect
                  and (m.expires_at is null or m.expires_at > ts) and :"schema"._wanted(m.topic, exact, prefixes)
                  and (p_named or m.topic is distinct from p_waits)))
              and p.epoch is null
            for update skip locked),
        run as (
            select m.*, bool_and(m.go) over (partition by m.key order by m.n) as goes
            from (select m.*, m.work_id in (select f.work_id from free f) as go from met m) m)
        select coalesce(array_agg(r.work_id) filter (where r.goes), '{}') as ids,
               array_agg(r.key) filter (where r.goes and r.n = 1) as held,
               array_agg(r.key) filter (where not r.goes and r.n = 1) as waiting,
               array_agg(greatest(r.available_at, ts)) filter (where not r.goes and r.n = 1) as until,
               array_agg(r.crash_count > 0) filter (where not r.goes and r.n = 1) as suspects,
               array_agg(r.topic) filter (where not r.goes and r.n = 1) as topics,
               array_agg(r.key) filter (where r.n is null) as empty
        into got from run r;
        update :"schema".parked p set epoch = p_epoch where p.work_id = any (got.ids);
        update :"schema".stream s set available_at = null
        where s.ctid = any (:"schema"._stream_rows(p_box, got.held));
        if got.waiting is not null then
            update :"schema".stream s set available_at = r.until, suspect = r.suspect, topic = r.topic
            from (select r.*, s.ctid as place
                  from unnest(got.waiting, got.until, got.suspects, got.topics) r(key, until, suspect, topic)
                  cross join lateral (
                      select s.ctid from :"schema".stream s where s.box = p_box and s.key = r.key limit 1) s) r
            where s.ctid = r.place;
        end if;
        if got.empty is not null then
            delete from :"schema".stream s
            where s.ctid = any (:"schema"._stream_rows(p_box, got.empty)) and s.halted_at is null;
        end if;
        taken := taken || got.ids;
        exit when cardinality(taken) >= wanted or cardinality(got.ids) >= cardinality(due);
    end loop;
    return taken;
end $$;
