-- Leases the plain case: the first messages in the log of streams that the caller has locked (_lock_ready), if they are
-- ready and wanted, up to `wanted` in all. Streams without messages are forgotten. rest: streams that need a closer
-- look (_log_runs), since their next message is parked, expired, not due or unwanted. Only under the turn, and only
-- while heads may be handed out (_is_open).
create or replace function :"schema"._take_runs(
    p_box smallint, keys text[], places tid[], positions bigint[], wanted int, p_epoch bigint,
    exact text[], prefixes text[], p_except text, out ids bigint[], out rest text[])
language plpgsql volatile :hot as $$
declare
    -- Of each stream, even if there are more streams than needed.
    share constant int := greatest((wanted + cardinality(keys) - 1) / cardinality(keys), least((wanted + 15) / 16, 16));
    empty tid[];
    log constant smallint := case when p_box < 2 then p_box else :"schema"._log_box(p_box) end;
    skips constant boolean := pg_sequence_last_value(':"schema".skip_flag') is not null;
begin
    with f as materialized (
        select y.era, y.target, y.target_top, y.choosy, y.in_exact, y.in_prefixes, y.but_exact, y.but_prefixes, y.from_time, y.from_id
        from :"schema".frontier y where y.box = p_box and y.lane = 1
        order by y.box desc, y.lane desc, y.seq desc limit 1),
    met as materialized (
        select d.key, d.place, h.ids, coalesce(h.stop - 1, cardinality(h.ids)) as n
        from f cross join unnest(keys, places, positions) d(key, place, position)
        cross join lateral (
            select array_agg(m.work_id) as ids, array_position(array_agg(m.goes), false) as stop
            from (select m.work_id,
                         m.due_at is null and m.expires_at is null and :"schema"._wanted(m.topic, exact, prefixes)
                             and m.topic is distinct from p_except as goes
                  from :"schema".message m
                  where m.box = log and m.lane = 1 and m.stream >= d.key and m.stream <= d.key
                    and m.work_id > d.position and m.work_id <= f.target_top and m.era = f.era
                    and pg_visible_in_snapshot(m.xid, f.target)
                    and (not f.choosy or :"schema"._reads(f.choosy, f.in_exact, f.in_prefixes, f.but_exact, f.but_prefixes, f.from_time, f.from_id,
                                                          m.topic, m.created_at, m.work_id))
                    and (not skips or not :"schema"._is_left_out(p_box, m.work_id))
                  order by m.stream, m.work_id limit share) m) h
        where (select true from :"schema".parked p where p.box = p_box and p.stream >= d.key and p.stream <= d.key
               order by p.stream, p.work_id limit 1) is null),
    run as materialized (
        select m.key, m.place, m.ids[:least(m.n, wanted - m.before)] as ids, least(m.n, wanted - m.before) as n
        from (select m.*, sum(m.n) over (rows unbounded preceding)::int - m.n as before from met m where m.n > 0) m
        where m.before < wanted),
    held as (
        update :"schema".stream s set available_at = null, taken_from = s.position, position = r.ids[r.n], epoch = p_epoch
        from run r where s.ctid = r.place)
    select coalesce((select array_agg(i) from run r, unnest(r.ids) i), '{}'),
           array(select m.place from met m where m.ids is null),
           array(select k from unnest(keys) k except select m.key from met m where m.ids is null or m.n > 0)
    into ids, empty, rest;
    if empty <> '{}' then
        perform :"schema"._forget_streams(p_box, empty, clock_timestamp());
    end if;
end $$;
