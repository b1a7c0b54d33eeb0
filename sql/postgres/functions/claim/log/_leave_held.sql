-- Of messages that a claimer is about to lease, leaves out those that an open transaction has locked, and those that
-- have left the straight path. The trace of a lock (xmax) is in the rows that every claim reads anyway, so this costs
-- nothing while none is locked.
create or replace function :"schema"._leave_held(p_box smallint, inout items int8multirange, inout total int)
language plpgsql volatile as $$
declare
    is_single constant boolean := upper(items) - lower(items) = total;
    met record;
begin
    if is_single then
        select count(*) as n, bool_or(m.xmax <> 0 or m.lane <> 0) as touched into met
        from :"schema".message m where m.work_id >= lower(items) and m.work_id < upper(items);
    else
        select count(*) as n, bool_or(m.touched) as touched into met
        from unnest(items) r cross join lateral (
            select m.xmax <> 0 or m.lane <> 0 as touched from :"schema".message m
            where m.work_id >= lower(r) and m.work_id < upper(r) order by m.work_id offset 0) m;
    end if;
    if met.n <> total or met.touched then
        items := :"schema"._sidestep(p_box, items);
        total := (select coalesce(sum(upper(r) - lower(r)), 0) from unnest(items) r);
    end if;
end $$;
