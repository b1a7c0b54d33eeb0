-- Leases the heads of streams whose turn has come, and as many neighbours behind each as the claimer has room for.
-- Under the turn (who has none: _heads_inside), and only while every window of the streamed lane is sorted in whole
-- (see _sort_streams). The row in stream says when to look; the true head is looked up here (_head_runs).
create or replace function :"schema"._claim_heads(
    p_box smallint, p_epoch bigint, wanted int, p_suspect boolean, due_from timestamptz, ts timestamptz,
    exact text[], prefixes text[], p_owner uuid, p_waits text, p_named boolean, has_turn boolean)
returns bigint[] language plpgsql volatile :hot as $$
declare
    due text[];
    share int;
    got record;
    taken bigint[] := '{}';
begin
    if not has_turn then
        return :"schema"._heads_inside(p_box, p_epoch, wanted, p_suspect, due_from, ts, exact, prefixes, p_owner, p_waits, p_named);
    end if;
    -- A stream that turns out to have nothing for him does not count: he looks for others instead.
    for i in 1 .. 20 loop
        due := :"schema"._due_streams(p_box, wanted - cardinality(taken), p_suspect, due_from, ts, exact, prefixes,
                                      p_owner, case when not p_named then p_waits end);
        exit when due = '{}';
        share := case when p_suspect then 1 else greatest((wanted - cardinality(taken)) / cardinality(due), 1) end;
        select * into got from :"schema"._head_runs(p_box, due, share, p_suspect, true, ts, exact, prefixes, p_waits, p_named);
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
