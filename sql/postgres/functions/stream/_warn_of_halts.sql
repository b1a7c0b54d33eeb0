-- Tells the caller, of SQL or of the library, which logs it, that streams stand still from now on; at most 100 of them.
-- A warning costs nobody anything while no stream halts, whichever statement it is that buries. What is undone
-- because somebody was in the way was told nevertheless, and is told again when it happens.
create or replace function :"schema"._warn_of_halts(p_box smallint, keys text[], ids bigint[]) returns void
language plpgsql volatile :pinned as $$
declare
    box text := case p_box when 0 then 'outbox' else 'inbox' end;
    halt record;
begin
    for halt in select k.key, k.id from unnest(keys, ids) k(key, id) order by k.id limit 100 loop
        raise warning using errcode = '01BX2', table = box, column = halt.key, detail = 'work_id ' || halt.id,
            message = format('stream %s of the %s is halted: message %s died', halt.key, box, halt.id);
    end loop;
end $$;
