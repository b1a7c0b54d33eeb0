-- Does the work of _count_steps where the members of a join are not neighbours, or some had an outcome before: it looks
-- at each member by itself. The joins are open and locked, each with a lane to count in.
create or replace function :"schema"._count_one_by_one(
    items int8multirange, p_outcome smallint, ts timestamptz, p_joins uuid[], p_lanes smallint[])
returns bigint language plpgsql volatile :hot as $$
#variable_conflict use_column
declare
    counted bigint;
    full_ones uuid[];
begin
    with pending as (
        select s.join_id, array_agg(i order by i) as members
        from :"schema"._steps(items) s cross join generate_series(s.first_id, s.last_id) i
        where s.join_id = any (p_joins) and coalesce((
            select o.last_id < i from :"schema".join_outcome o
            where o.join_id = s.join_id and o.first_id <= i order by o.first_id desc limit 1), true)
        group by s.join_id),
    chosen as materialized (
        select g.join_id, g.lane, p.seq, p.room, g.members[1 : p.room] as members
        from (select g.*, p_lanes[array_position(p_joins, g.join_id)] as lane from pending g) g
        cross join lateral (
            select j.expected_steps, j.last_lane from :"schema".join_row j where j.join_id = g.join_id limit 1) j
        cross join lateral (
            select max(p.seq) filter (where l.lane = g.lane) as seq,
                   (j.expected_steps - sum(p.completed_steps + p.failed_steps))::int as room
            from generate_series(0, j.last_lane) l(lane) cross join lateral (
                select p.seq, p.completed_steps, p.failed_steps from :"schema".join_progress p
                where p.join_id = g.join_id and p.lane = l.lane order by p.seq desc limit 1) p) p),
    marked as (
        insert into :"schema".join_outcome (join_id, first_id, last_id, status)
        select c.join_id, min(t.id), max(t.id), p_outcome
        from chosen c, unnest(c.members) with ordinality t(id, n) group by c.join_id, t.id - t.n),
    moved as (
        update :"schema".join_progress p
        set seq = p.seq + 1,
            completed_steps = p.completed_steps + case when p_outcome = 1 then cardinality(c.members) else 0 end,
            failed_steps = p.failed_steps + case when p_outcome = 1 then 0 else cardinality(c.members) end,
            updated_at = greatest(p.updated_at, ts), xid = pg_current_xact_id(),
            xid_steps = cardinality(c.members) + case when p.xid = pg_current_xact_id() then p.xid_steps else 0 end
        from chosen c where p.join_id = c.join_id and p.lane = c.lane and p.seq = c.seq)
    select sum(cardinality(c.members)), array_agg(c.join_id) filter (where cardinality(c.members) = c.room)
    into counted, full_ones from chosen c;
    if full_ones is not null then
        perform :"schema"._end_joins(full_ones, null, null, ts);
    end if;
    return coalesce(counted, 0);
end $$;
