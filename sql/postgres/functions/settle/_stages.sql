-- Which stages of a message are done; 0 = none was recorded.
create or replace function :"schema"._stages(p_work_id bigint) returns int
language plpgsql stable security definer :pinned as $$
begin
    return coalesce((select s.flags from :"schema".stage s where s.work_id = p_work_id), 0);
end $$;
