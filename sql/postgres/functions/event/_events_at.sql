-- The events at these positions, in order.
create or replace function :"schema"._events_at(positions bigint[]) returns setof :"schema".event_entry
language plpgsql stable rows 1000 :hot as $$
begin
    return query
        select e.event_id, e.stream, e.version, p.n, e.type, e.payload, e.headers, e.correlation_id, e.created_at,
               e.causation_id
        from unnest(positions) p(n)
        cross join lateral (
            select r.first_id + (p.n - r.first_position) as id from :"schema".event_run r where r.first_position <= p.n
            order by r.first_position desc limit 1) r
        cross join lateral (select e.* from :"schema".event_row e where e.event_no = r.id limit 1) e
        order by p.n;
end $$;
