-- May the caller see which owner holds which lease? A caller that knows an owner's id can settle the messages of that
-- owner. So only callers that may do everything see it: the schema's owner and roles with admin access. The caller is
-- the role of the session, also inside functions that run with the rights of their owner.
create or replace function :"schema"._sees_owners() returns boolean
language sql stable :pinned as $$
    select has_function_privilege(coalesce(nullif(current_setting('role'), 'none'), session_user)::name,
                                  ':"schema".grant_access(name, text)', 'execute')
$$;
