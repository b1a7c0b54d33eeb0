-- The dead letter that has halted a stream; null: it is not halted.
create or replace function :"schema"._halted_by(p_box smallint, p_key text) returns bigint
language plpgsql stable security definer :hot as $$
begin
    return (select s.halted_by from :"schema".stream s where s.box = p_box and s.key = p_key);
end $$;
