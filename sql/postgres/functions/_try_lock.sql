-- Locks joins in the order of their ids, or none of them.
create or replace function :"schema"._try_lock(p_joins uuid[]) returns boolean
language plpgsql volatile :hot set lock_timeout = '800ms' as $$
begin
    perform from :"schema".join_row j where j.join_id = any (p_joins) order by j.join_id for no key update;
    return true;
exception when lock_not_available then
    return false;
end $$;
