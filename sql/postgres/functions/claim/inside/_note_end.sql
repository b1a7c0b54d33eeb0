-- Has _at_end do something when this transaction ends: wake the sleepers of a box, or (has_turn) see to it that the
-- transaction is not prepared, and take messages that it claimed out of the pool (places, items), or do what it left undone
-- (places '{}'), or set aside what others hold in rows of the pool (places -1 and theirs). The row is gone at once; that it was
-- written is remembered by the trigger.
create or replace function :"schema"._note_end(
    p_box smallint, p_has_turn boolean, p_places bigint[] default null, p_items int8multirange default null)
returns void language plpgsql volatile :pinned as $$
declare
    place tid;
begin
    insert into :"schema".end_note as n (box, has_turn, places, items) values (p_box, p_has_turn, p_places, p_items)
    returning n.ctid into place;
    delete from :"schema".end_note n where n.ctid = place;
end $$;
