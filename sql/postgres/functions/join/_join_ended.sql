-- Raises the error of a call that comes too late for a join.
create or replace function :"schema"._join_ended(p_join uuid) returns void
language plpgsql immutable :pinned as $$
begin
    raise exception using errcode = 'BX003',
        message = format('join %s has ended', p_join);
end $$;
