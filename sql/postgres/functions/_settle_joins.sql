-- Brings joins, which the caller has locked, up to date: those past their deadline end, and members
-- attached apart from enqueueing are looked at whose time has come: a message that ended before it was
-- known to count is counted now (BX-042). A message that has not ended is counted by its end, if that saw
-- the member; one more look, later and later, makes sure. Returns how many were counted.
create or replace function :"schema"._settle_joins(p_joins uuid[], ts timestamptz)
returns bigint language plpgsql volatile :hot as $$
#variable_conflict use_column
declare
    overdue uuid[] := array(
        select i from unnest(p_joins) i cross join lateral (
            select j.status, j.deadline from :"schema".join_row j where j.join_id = i limit 1) j
        where j.status = 0 and j.deadline <= ts);
    done bigint[];
    dead bigint[];
    counted bigint := 0;
begin
    if overdue <> '{}' then
        perform :"schema"._end_joins(overdue, 2::smallint, 1::smallint, ts);
    end if;
    with looked as materialized (
        select m.tid, x.work_id, m.status <> 0 or j.status <> 0 as is_over
        from unnest(p_joins) i
        cross join lateral (
            select m.tid, m.message_id, m.status from :"schema"._join_member m
            where m.join_id = i and m.check_at <= ts order by m.check_at limit 2000) m
        cross join lateral (select j.status from :"schema".join_row j where j.join_id = i limit 1) j
        left join lateral (
            select x.work_id from :"schema".message x where x.message_id = m.message_id limit 1) x on true),
    known as (
        update :"schema".join_member m
        set work_id = coalesce(m.work_id, l.work_id),
            check_at = case when not l.is_over then ts + least(
                greatest(interval '1 second', ts - m.created_at), interval '1 hour') end
        from looked l where m.ctid = l.tid)
    select array_agg(l.work_id) filter (where exists (select from :"schema"._finished(l.work_id))),
           array_agg(l.work_id) filter (where exists (
               select from :"schema".dead d where d.work_id = l.work_id))
    into done, dead from looked l where l.work_id is not null and not l.is_over;
    if done is not null then
        counted := :"schema"._count_steps(:"schema"._multirange(done), 1::smallint, ts, p_joins);
    end if;
    if dead is not null then
        counted := counted + :"schema"._count_steps(:"schema"._multirange(dead), 2::smallint, ts, p_joins);
    end if;
    return counted;
end $$;
