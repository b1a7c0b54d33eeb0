-- Changes a setting; null restores the default.
create or replace function :"schema"._set(p_name text, p_number double precision, p_text text default null)
returns void
language plpgsql volatile security definer :pinned as $$
begin
    if p_number is null then
        delete from :"schema".setting s where s.name = p_name;
        return;
    end if;
    insert into :"schema".setting (name, number, text) values (p_name, p_number, p_text)
    on conflict (name) do update set number = excluded.number, text = excluded.text;
end $$;
