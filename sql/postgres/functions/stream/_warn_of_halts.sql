-- Warns the caller that streams halt from now on; at most 100 of them. The library logs such a warning. It costs
-- nothing while no stream halts, whichever statement buries. If another transaction is in the way and the halt is
-- undone, the warning was sent all the same. It is sent again when the halt happens.
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
