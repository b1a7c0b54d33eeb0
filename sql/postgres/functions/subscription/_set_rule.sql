-- Makes claimers follow what a reader wants now: its patterns, or for a main reader what subscriptions leave to it. It counts for
-- what lies beyond the frontier, so it is written there, under the turn.
--
-- Messages of streams that claimers came past lie in the log until they are handed out. Those that the reader would not get any
-- more are parked, as they were promised to it.
create or replace function :"schema"._set_rule(p_reader smallint) returns void
language plpgsql volatile :hot as $$
declare
    r :"schema".reader;
    old :"schema".frontier;
    f :"schema".frontier;
    mine record;
    others record;
    ids bigint[];
begin
    select * into r from :"schema".reader x where x.number = p_reader;
    mine := :"schema"._split_patterns(r.patterns);
    select array_agg(distinct t) filter (where t not like '%*') as exact, array_agg(distinct left(t, -1)) filter (where t like '%*') as prefixes
    into others from :"schema".reader x, unnest(coalesce(x.patterns, '{*}')) t
    where x.box = p_reader and x."only" and x.removed_at is null and x.number > 1;
    if not :"schema"._turn(p_reader, true) then
        raise exception using errcode = '55P03', message = 'claimers are busy; try again';
    end if;
    for p_lane in 0 .. 1 loop
        old := :"schema"._frontier(p_reader, p_lane::smallint);
        f := old;
        f.in_exact := mine.exact;
        f.in_prefixes := mine.prefixes;
        f.but_exact := others.exact;
        f.but_prefixes := others.prefixes;
        f.choosy := num_nonnulls(f.in_exact, f.in_prefixes, f.but_exact, f.but_prefixes, f.from_time, f.from_id) > 0;
        if p_lane = 1 then
            ids := array(
                select m.work_id from :"schema"._fresh m join :"schema".stream s on s.box = p_reader and s.key = m.stream
                where m.reader = p_reader and m.lane = 1 and m.work_id > s.position and :"schema"._is_behind(f, m.xid, m.work_id)
                  and not :"schema"._reads(f.choosy, f.in_exact, f.in_prefixes, f.but_exact, f.but_prefixes, f.from_time, f.from_id,
                                           m.topic, m.created_at, m.work_id));
        end if;
        -- Joins follow the main readers, so they must get the steps that they have not read yet (BX-095).
        if p_reader < 2 and :"schema"._is_step(:"schema"._multirange(array(
               select m.work_id from :"schema"._fresh m
               where m.reader = p_reader and m.lane = p_lane and not :"schema"._is_behind(f, m.xid, m.work_id)
                 and not :"schema"._reads(f.choosy, f.in_exact, f.in_prefixes, f.but_exact, f.but_prefixes, f.from_time, f.from_id,
                                          m.topic, m.created_at, m.work_id)))) then
            raise exception using errcode = 'BX003',
                message = 'a message with such a topic is a step of a join, and the main reader has not read it yet',
                hint = 'Try again when the main reader has come past it.';
        end if;
        -- What the main reader has not read, and the subscription that takes it does not read either, would be nobody's.
        if p_reader < 2 and exists (
               select from :"schema"._fresh m
               where m.reader = p_reader and m.lane = p_lane and not :"schema"._is_behind(f, m.xid, m.work_id)
                 and :"schema"._reads(old.choosy, old.in_exact, old.in_prefixes, old.but_exact, old.but_prefixes, old.from_time,
                                      old.from_id, m.topic, m.created_at, m.work_id)
                 and not :"schema"._reads(f.choosy, f.in_exact, f.in_prefixes, f.but_exact, f.but_prefixes, f.from_time, f.from_id,
                                          m.topic, m.created_at, m.work_id)
                 and not exists (
                     select from :"schema".reader x
                     where x.box = p_reader and x.number > 1 and x."only" and x.removed_at is null
                       and :"schema"._wants(x.number, m.lane, m.era, m.xid, m.topic, m.created_at, m.work_id))) then
            raise exception using errcode = 'BX003',
                message = 'the main reader has not read all messages with such topics, and the subscription would not read them',
                hint = 'Try again when the main reader has read them, or start at beginning, or at a time before the oldest of them.';
        end if;
        f.seq := f.seq + 1;
        perform :"schema"._add_frontier(f);
        perform :"schema"._note_rule(f);
    end loop;
    if ids <> '{}' then
        insert into :"schema".parked (work_id, box, available_at, expires_at, topic, stream)
        select m.work_id, p_reader, greatest(m.due_at, m.created_at), m.expires_at, m.topic, m.stream
        from :"schema".message m where m.work_id = any (ids);
        insert into :"schema".stream_note (box, key)
        select p_reader, k from unnest(:"schema"._wake_streams(
            p_reader, array(select distinct m.stream from :"schema".message m where m.work_id = any (ids)), clock_timestamp())) k;
    end if;
end $$;
