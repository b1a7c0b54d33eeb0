-- Has the frontier passed any of these messages?
create or replace function :"schema"._is_any_behind(f :"schema".frontier, ids bigint[]) returns boolean
language plpgsql volatile as $$
begin
    return ids <> '{}' and exists (
        select from :"schema".message m
        where m.work_id = any (ids) and (m.era <> f.era or :"schema"._is_behind(f, m.xid, m.work_id)));
end $$;
