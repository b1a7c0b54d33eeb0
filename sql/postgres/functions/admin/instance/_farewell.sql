-- A worker ends: removes its registration, its signs of life and its naps.
create or replace function :"schema"._farewell(p_instance uuid) returns void
language plpgsql volatile security definer :hot as $$
begin
    delete from :"schema".instance_row r where r.instance_id = p_instance;
    delete from :"schema".instance_sign s where s.instance_id = p_instance;
    perform :"schema"._get_up(p_instance);
end $$;
