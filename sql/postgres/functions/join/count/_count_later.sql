-- Messages have ended, but the joins they are steps of are held by somebody: their members are to be looked at
-- (_settle_joins), and the waits for these joins, which do that, are due in a second. A member whose row is
-- locked is being looked at right now, and will be again.
create or replace function :"schema"._count_later(items int8multirange, p_joins uuid[], ts timestamptz) returns void
language plpgsql volatile :hot as $$
begin
    with missed as (
        select m.tid from :"schema"._steps(items) s cross join generate_series(s.first_id, s.last_id) i
        cross join lateral (select x.message_id from :"schema".message x where x.work_id = i limit 1) x
        cross join lateral (
            select m.ctid as tid from :"schema".join_member m
            where m.join_id = s.join_id and m.message_id = x.message_id and m.status = 0
            for no key update skip locked) m
        where s.join_id = any (p_joins))
    update :"schema".join_member m set check_at = ts from missed x where m.ctid = x.tid;

    with due as (
        select p.work_id from :"schema".parked p
        where p.work_id = any (array(select w.work_id from :"schema".join_wait w where w.join_id = any (p_joins)))
          and p.epoch is null and p.available_at > ts + interval '1 second'
        order by p.work_id for update skip locked)
    update :"schema".parked p set available_at = ts + interval '1 second' from due d where p.work_id = d.work_id;
end $$;
