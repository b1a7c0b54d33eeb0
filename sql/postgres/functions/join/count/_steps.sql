-- The members among these messages, as runs of work ids per join. It leaves out reported members, but not counted ones.
-- The planner makes it part of the query that calls it.
create or replace function :"schema"._steps(items int8multirange)
returns table (join_id uuid, first_id bigint, last_id bigint) language sql stable as $$
    select m.join_id, m.first_id, m.last_id
    from unnest(items) r(run) cross join lateral (
        select m.join_id, m.work_id as first_id, m.work_id as last_id from :"schema".join_member m
        where m.work_id >= lower(r.run) and m.work_id < upper(r.run) and not m.in_span and m.status = 0
        union all
        select s.join_id, greatest(s.first_id, lower(r.run)), least(s.last_id, upper(r.run) - 1)
        from :"schema".join_span s
        where s.first_id > lower(r.run) - 1000 and s.first_id < upper(r.run) and s.last_id >= lower(r.run)
        offset 0) m
$$;
