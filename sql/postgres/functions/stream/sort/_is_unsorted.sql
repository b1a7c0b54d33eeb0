-- Whether a message of a stream was there before this time and no claimer has sorted it in.
create or replace function :"schema"._is_unsorted(p_box smallint, since timestamptz) returns boolean
language plpgsql volatile as $$
declare
    f :"schema".frontier := :"schema"._frontier(p_box, 1::smallint);
    first_id bigint := (select w.work_id from :"schema"._window(f, 1) w);
begin
    if first_id is null then
        f := :"schema"._next_window(f, pg_current_snapshot());
        first_id := (select w.work_id from :"schema"._window(f, 1) w);
    end if;
    return exists (select from :"schema".message m where m.work_id = first_id and m.created_at < since);
end $$;
