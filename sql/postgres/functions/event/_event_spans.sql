-- Where the events at the positions behind p_after lie, at most p_wanted of them: runs, cut to size.
create or replace function :"schema"._event_spans(p_after bigint, p_wanted bigint)
returns table (first_position bigint, first_id bigint, last_id bigint)
language plpgsql stable rows 10 :hot as $$
#variable_conflict use_column
begin
    return query
        select r.first_position + s.skip, r.first_id + s.skip,
               least(r.last_id, r.first_id + (p_after + p_wanted - r.first_position))
        from ((select x.* from :"schema".event_run x where x.first_position <= p_after + 1
               order by x.first_position desc limit 1)
              union all
              (select x.* from :"schema".event_run x
               where x.first_position > p_after + 1 and x.first_position <= p_after + p_wanted
               order by x.first_position)) r
        cross join lateral (select greatest(p_after + 1 - r.first_position, 0) as skip) s
        where r.first_id + s.skip <= r.last_id;
end $$;
