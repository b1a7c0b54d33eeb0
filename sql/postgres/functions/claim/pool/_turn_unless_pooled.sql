-- Takes the turn, to fill the pool. false: it does not come in time. null: another claimer has filled the pool during
-- the wait (this counts if look is true), and the turn is given back.
create or replace function :"schema"._turn_unless_pooled(p_box smallint, topics text[], pool_from bigint, look boolean)
returns boolean language plpgsql volatile as $$
begin
    if not :"schema"._turn(p_box, true) then
        return false;
    end if;
    if look and exists (select from :"schema"._pool_rows(p_box, topics, pool_from, 1)) then
        raise exception using errcode = 'BX099';
    end if;
    return true;
exception when sqlstate 'BX099' then
    return null;
end $$;
