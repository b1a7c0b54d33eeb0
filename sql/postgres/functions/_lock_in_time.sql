-- Locks joins, in the order of their ids, and says which it has: all of them, unless somebody's open transaction
-- holds one. He may hold it for long, and whoever settles messages has other work to do: after a moment those
-- that are free are enough.
create or replace function :"schema"._lock_in_time(p_joins uuid[]) returns uuid[]
language plpgsql volatile :hot as $$
begin
    if :"schema"._try_lock(p_joins) then
        return p_joins;
    end if;
    return array(select j.join_id from :"schema".join_row j where j.join_id = any (p_joins)
                 order by j.join_id for no key update skip locked);
end $$;
