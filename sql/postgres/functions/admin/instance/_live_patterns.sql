-- The topics of the workers of a box that have reported lately.
create or replace function :"schema"._live_patterns(p_box smallint, lately interval)
returns setof text language plpgsql stable security definer :pinned as $$
begin
    perform :"schema"._check_span('lately', lately);
    return query
    select distinct t from :"schema"._instance i, unnest(i.topics) t
    where i.reader = p_box and i.seen_at > clock_timestamp() - lately;
end $$;
