-- Gives messages back without spending an attempt (BX-022).
create or replace function :"schema"._defer(
    p_box smallint, p_owner uuid, ids bigint[], epochs bigint[], delays bigint[])
returns bigint[] language plpgsql volatile security definer :hot as $$
begin
    return :"schema"._give_back(p_box, p_owner, ids, epochs, null, 0, delays, null);
end $$;
