-- Messages have ended, but other transactions hold the joins of which they are steps. Notes the steps: the next
-- transaction that has the join counts them (_settle_joins). The waits for these joins do that too, so this makes them
-- due in a second.
create or replace function :"schema"._count_later(
    items int8multirange, p_outcome smallint, p_joins uuid[], ts timestamptz) returns void
language plpgsql volatile :hot as $$
begin
    insert into :"schema".late_step (join_id, first_id, last_id, outcome)
    select s.join_id, s.first_id, s.last_id, p_outcome from :"schema"._steps(items) s where s.join_id = any (p_joins);

    with due as (
        select p.work_id from :"schema".parked p
        where p.work_id = any (array(select w.work_id from :"schema".join_wait w where w.join_id = any (p_joins)))
          and p.box < 2 and p.epoch is null and p.available_at > ts + interval '1 second'
        order by p.work_id for update skip locked)
    update :"schema".parked p set available_at = ts + interval '1 second' from due d where p.work_id = d.work_id and p.box < 2;
end $$;
