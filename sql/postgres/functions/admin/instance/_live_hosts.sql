-- How many workers of a box have reported lately, by host.
create or replace function :"schema"._live_hosts(p_box smallint, lately interval)
returns table (host text, workers bigint) language plpgsql stable security definer :pinned as $$
begin
    perform :"schema"._check_span('lately', lately);
    return query
    select i.host, count(*) from :"schema"._instance i
    where i.reader = p_box and i.seen_at > clock_timestamp() - lately
    group by i.host order by 2 desc, 1;
end $$;
