-- Which of these joins are open. BX002 if one does not exist. They are locked against being removed, no
-- more: counting in them goes on meanwhile.
create or replace function :"schema"._open_joins(place text, wanted uuid[]) returns uuid[]
language plpgsql volatile :hot as $$
#variable_conflict use_column
declare
    there uuid[];
    open_ones uuid[];
begin
    select coalesce(array_agg(l.join_id), '{}'), coalesce(array_agg(l.join_id) filter (where l.status = 0), '{}')
    into there, open_ones
    from (select j.join_id, j.status from :"schema".join_row j where j.join_id = any (wanted)
          order by j.join_id for key share) l;
    if not wanted <@ there then
        raise exception using errcode = 'BX002', column = place || 'join_id',
            message = 'there is no join ' || (select w from unnest(wanted) w where w <> all (there) limit 1);
    end if;
    return open_ones;
end $$;
