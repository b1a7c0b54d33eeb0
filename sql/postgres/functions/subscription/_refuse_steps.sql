-- Messages that a subscription takes away from the main reader cannot be steps of joins, which follow that one (BX-095). Callers ask
-- first whether there ever was a subscription.
create or replace function :"schema"._refuse_steps(work_ids bigint[]) returns void
language plpgsql stable :hot as $$
declare
    bad record;
begin
    select m.topic, r.name into bad
    from :"schema".reader r, unnest(work_ids) i cross join lateral (
        select m.box, m.topic from :"schema".message m where m.work_id = i limit 1) m
    where r."only" and r.removed_at is null and r.box = m.box and exists (
        select from unnest(coalesce(r.patterns, '{*}')) p
        where m.topic = p or right(p, 1) = '*' and starts_with(m.topic, left(p, -1))) limit 1;
    if found then
        perform :"schema"._invalid('join_id', format(
            'cannot be given for topic "%s": subscription "%s" takes it away from the main reader, which joins follow', bad.topic, bad.name));
    end if;
end $$;
