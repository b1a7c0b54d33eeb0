-- Makes _at_end do something when this transaction ends. It wakes the sleepers of a box. Or (has_turn) it refuses to
-- prepare the transaction, and one of these: it takes messages that the transaction claimed out of the pool (places,
-- items), does what the transaction left undone (places '{}'), or sets aside what others hold in rows of the pool
-- (places -1 and theirs). The row is gone at once; the trigger remembers that it was written.
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
