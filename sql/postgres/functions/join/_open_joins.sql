-- Which of these joins are open: pending, and not past their deadline. BX002 if one does not exist. They are locked
-- only against being removed: counting in them goes on meanwhile.
create or replace function :"schema"._open_joins(wanted uuid[]) returns uuid[]
language plpgsql volatile :hot as $$
#variable_conflict use_column
declare
    ts timestamptz := clock_timestamp();
    there uuid[];
    open_ones uuid[];
begin
    select coalesce(array_agg(l.join_id), '{}'),
           coalesce(array_agg(l.join_id) filter (where l.status = 0 and coalesce(l.deadline > ts, true)), '{}')
    into there, open_ones
    from (select j.join_id, j.status, j.deadline from :"schema".join_row j where j.join_id = any (wanted)
          order by j.join_id for key share) l;
    if not wanted <@ there then
        raise exception using errcode = 'BX002',
            message = 'there is no join ' || (select w from unnest(wanted) w where w <> all (there) limit 1);
    end if;
    return open_ones;
end $$;
