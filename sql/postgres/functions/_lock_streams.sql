-- Locks the streams of these messages, in the order of their keys. Messages that are not in the parking lot have none.
create or replace function :"schema"._lock_streams(p_box smallint, items int8multirange) returns void
language plpgsql volatile :hot as $$
begin
    if items = '{}' then
        return;
    end if;
    perform from (
        select distinct p.stream from :"schema"._ids(items) i cross join lateral (
            select p.stream from :"schema".parked p where p.work_id = i and p.stream is not null limit 1) p
        order by p.stream) k(key)
    cross join lateral (
        select from :"schema".stream s where s.box = p_box and s.key = k.key limit 1 for update) s;
end $$;
