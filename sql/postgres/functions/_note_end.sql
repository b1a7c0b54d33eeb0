-- Has _at_end do something when this transaction ends: wake the sleepers of a box, or (has_turn) see to it that the
-- transaction is not prepared. The row is gone at once; that it was written is remembered by the trigger. For servers
-- that have prepared transactions only.
create or replace function :"schema"._note_end(p_box smallint, p_has_turn boolean) returns void
language plpgsql volatile :pinned as $$
declare
    place tid;
begin
    insert into :"schema".end_note as n (box, has_turn) values (p_box, p_has_turn) returning n.ctid into place;
    delete from :"schema".end_note n where n.ctid = place;
end $$;
