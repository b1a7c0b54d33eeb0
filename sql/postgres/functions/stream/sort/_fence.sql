-- A transaction number that no other transaction has when this is called. A transaction with a larger number gets it
-- afterwards. If this transaction has no number yet, it takes its own. Otherwise it takes that of a part of itself,
-- which is rolled back: the row that the part locks names it. Only under the turn, which keeps others from that row.
create or replace function :"schema"._fence(p_box smallint) returns xid8
language plpgsql volatile as $$
declare
    part xid;
begin
    if pg_current_xact_id_if_assigned() is null then
        return pg_current_xact_id();
    end if;
    begin
        perform from :"schema".frontier x where x.box = p_box and x.lane = 1
        order by x.box desc, x.lane desc, x.seq desc limit 1 for update;
        select x.xmax into part from :"schema".frontier x where x.box = p_box and x.lane = 1
        order by x.box desc, x.lane desc, x.seq desc limit 1;
        raise exception using errcode = 'BX099';
    exception when sqlstate 'BX099' then
        null;
    end;
    return :"schema"._full_xid(part);
end $$;
