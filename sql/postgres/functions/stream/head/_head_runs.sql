-- Finds the parked messages of these streams that a claimer, which has locked their rows, can take: the first message
-- of each and its neighbours, up to share, all of them before a work id of `below` (null: any). A run ends before the
-- first message that may not go: not due, suspect, expired, unwanted, or held by another transaction. A suspect head
-- goes alone.
-- ids: these may go; held: their streams; waiting: streams whose head may not go, and until, suspects and topics: what
-- is known of it; empty: streams without such messages. Without the turn nothing goes while heads may not be handed out
-- (_is_open). The statement that looks for the messages has to ask this itself.
create or replace function :"schema"._head_runs(
    p_box smallint, due text[], below bigint[], share int, p_suspect boolean, has_turn boolean, ts timestamptz,
    exact text[], prefixes text[], p_except text,
    out ids bigint[], out held text[], out waiting text[], out until timestamptz[], out suspects boolean[],
    out topics text[], out empty text[])
language plpgsql volatile :hot as $$
begin
    -- A range of one key, here and wherever a stream's head is looked up: for an equation the planner may take the
    -- order of work ids from the primary key, and look through all other streams on the way.
    with met as materialized (
        select d.key, h.* from unnest(due, below) d(key, below) left join lateral (
            select p.work_id, p.topic, p.available_at, p.crash_count, p.expires_at,
                   row_number() over (order by p.work_id) as n
            from (select * from :"schema".parked p where p.box = p_box and p.stream >= d.key and p.stream <= d.key
                    and p.work_id < coalesce(d.below, 9223372036854775807)
                  order by p.stream, p.work_id limit share) p) h on true),
    -- A message that another transaction is burying is passed over: that one waits for the stream, so waiting for it
    -- under the turn would be a deadlock.
    free as materialized (
        select p.work_id from :"schema".parked p
        where p.work_id = any (array(
            select m.work_id from met m
            where m.available_at <= ts and (m.crash_count > 0) = p_suspect
              and (m.expires_at is null or m.expires_at > ts) and :"schema"._wanted(m.topic, exact, prefixes)
              and m.topic is distinct from p_except))
          and p.box = p_box and p.epoch is null
          and (has_turn or (select :"schema"._is_open(y) from :"schema".frontier y where y.box = p_box and y.lane = 1
                            order by y.box desc, y.lane desc, y.seq desc limit 1))
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
    into ids, held, waiting, until, suspects, topics, empty from run r;
end $$;
