-- _claim_numbered for programs of schema version 9, which do not number claims.
create or replace function :"schema"._claim(
    p_box smallint, p_owner uuid, lease interval, wanted int, exact text[], prefixes text[], durable boolean,
    suspects boolean default true)
returns setof :"schema".claimed_message language plpgsql volatile security definer :hot as $$
begin
    return query select * from :"schema"._claim_numbered(p_box, p_owner, lease, wanted, exact, prefixes, durable, suspects,
                                                         null, false);
end $$;
