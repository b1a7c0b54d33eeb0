-- Finds the messages of these streams that a claimer, which has locked their rows, can take from the log: the first
-- message of each behind its position, and as many neighbours as the claimer has room for. A run ends before the first
-- message that may not go: not due, or unwanted. It also ends before a parked message of the stream. If that one is the
-- head, it goes first, by itself (_head_runs). Expired messages are passed over, unless the stream halts when one of
-- its messages dies.
--
-- ids: these may go; held: their streams, and lasts: how far the run of each goes; waiting: streams whose head may not
-- go, and until and topics: what is known of it; expired: messages that were met and have to be buried; odd: streams
-- headed by a parked message, and heads: the first message of each in the log behind that; empty: streams without
-- messages.
--
-- Only while heads may be handed out (_is_open). The same statement has to ask this, since others may overtake a
-- claimer without the turn: when they park messages, they also write how far they came. p_epoch: of parked messages
-- that this claim has already.
create or replace function :"schema"._log_runs(
    p_box smallint, due text[], wanted int, has_turn boolean, p_epoch bigint, ts timestamptz,
    exact text[], prefixes text[], p_except text,
    out ids bigint[], out held text[], out lasts bigint[], out waiting text[], out until timestamptz[], out topics text[],
    out expired bigint[], out odd text[], out heads bigint[], out empty text[])
language plpgsql volatile :hot as $$
declare
    share constant int := (wanted + cardinality(due) - 1) / cardinality(due);
    log constant smallint := case when p_box < 2 then p_box else :"schema"._log_box(p_box) end;
    skips constant boolean := pg_sequence_last_value(':"schema".skip_flag') is not null;
begin
    with f as materialized (
        select y.era, y.target, y.target_top, y.choosy, y.in_exact, y.in_prefixes, y.but_exact, y.but_prefixes, y.from_time, y.from_id,
               :"schema"._is_open(y) as is_open from :"schema".frontier y where y.box = p_box and y.lane = 1
        order by y.box desc, y.lane desc, y.seq desc limit 1),
    met as materialized (
        select d.place, s.key, s.parked_id, h.work_id, h.topic, h.due_at, h.n,
               coalesce(h.expires_at <= ts, false) as is_expired,
               coalesce(h.expires_at <= ts, false) and not :"schema"._halts(s.key) as is_passed,
               h.work_id is not null and coalesce(h.due_at <= ts, true) and coalesce(h.expires_at > ts, true)
                   and :"schema"._wanted(h.topic, exact, prefixes) and h.topic is distinct from p_except as go
        from f cross join unnest(due) with ordinality d(key, place)
        cross join lateral (
            select s.key, s.position, (
                select p.work_id from :"schema".parked p where p.box = p_box and p.stream >= d.key and p.stream <= d.key
                  and p.epoch is distinct from p_epoch
                order by p.stream, p.work_id limit 1) as parked_id
            from :"schema".stream s where s.box = p_box and s.key = d.key limit 1) s
        left join lateral (
            select m.work_id, m.topic, m.due_at, m.expires_at, row_number() over (order by m.work_id) as n
            from (select m.work_id, m.topic, m.due_at, m.expires_at from :"schema".message m
                  where m.box = log and m.lane = 1 and m.stream >= s.key and m.stream <= s.key
                    and m.work_id > s.position and m.work_id <= f.target_top and m.era = f.era
                    and pg_visible_in_snapshot(m.xid, f.target)
                    and (not f.choosy or :"schema"._reads(f.choosy, f.in_exact, f.in_prefixes, f.but_exact, f.but_prefixes, f.from_time, f.from_id,
                                                          m.topic, m.created_at, m.work_id))
                    and (not skips or not :"schema"._is_left_out(p_box, m.work_id))
                  order by m.stream, m.work_id limit share) m) h on true
        where f.is_open or has_turn),
    open as (
        select m.*, coalesce(m.parked_id < m.work_id, m.parked_id is not null) as is_odd,
               bool_and(m.may_pass) over (partition by m.place order by m.n rows unbounded preceding) as is_open
        from (select m.*, (m.go or m.is_passed) and coalesce(m.work_id < m.parked_id, true) as may_pass from met m) m),
    run as (
        select r.*, r.is_open and count(*) filter (where r.is_open and r.go) over (order by r.place, r.n rows unbounded preceding) <= wanted as is_taken,
               r.n = 1 and not r.is_open and not r.is_odd and not r.is_expired as waits
        from open r),
    ran as (
        select r.key, max(r.work_id) as last_id from run r where r.is_taken group by r.key having bool_or(r.go))
    select coalesce(array_agg(r.work_id) filter (where r.is_taken and r.go), '{}'),
           (select array_agg(x.key order by x.key) from ran x), (select array_agg(x.last_id order by x.key) from ran x),
           array_agg(r.key) filter (where r.waits),
           array_agg(greatest(r.due_at, ts)) filter (where r.waits),
           array_agg(r.topic) filter (where r.waits),
           array_agg(r.work_id) filter (where r.is_expired and not r.is_odd and (r.is_taken or r.n = 1)),
           array_agg(r.key) filter (where r.is_odd and coalesce(r.n, 1) = 1),
           array_agg(coalesce(r.work_id, 9223372036854775807)) filter (where r.is_odd and coalesce(r.n, 1) = 1),
           array_agg(r.key) filter (where r.n is null and not r.is_odd)
    into ids, held, lasts, waiting, until, topics, expired, odd, heads, empty from run r;
end $$;
