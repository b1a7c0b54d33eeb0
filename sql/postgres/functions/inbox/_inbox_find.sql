-- Everything known about a key of the inbox; no row when it was never heard of.
create or replace function :"schema"._inbox_find(p_source text, p_external_id text)
returns setof :"schema".inbox_receipt language plpgsql stable security definer :hot as $$
begin
    return query select * from :"schema".inbox_receipt r
        where r.source = p_source collate "C" and r.external_id = p_external_id collate "C";
end $$;
