-- Makes a dead letter of the inbox ready again, as if new; the reason is kept in its history. Name it by its key, or
-- by one of its ids. Returns the work id. BX002: there is no such message; BX003: it is not dead.
create or replace function :"schema".inbox_revive(
    reason text, source text default null, id text default null, message_id uuid default null,
    work_id bigint default null)
returns bigint language plpgsql volatile security definer :pinned as $$
declare
    found_id bigint;
    state text;
begin
    perform :"schema"._fault('', case
        when coalesce(reason, '') = '' then array['reason', 'is empty: say why']
        when num_nonnulls(source, id) = 1 or num_nonnulls(source, message_id, work_id) <> 1
            then array['source', 'and id, or message_id, or work_id: give exactly one of the three'] end);
    found_id := :"schema"._find_id(1::smallint, work_id, coalesce(message_id, :"schema"._inbox_id(source, id)));
    if found_id is null then
        raise exception using errcode = 'BX002', message = 'no such message';
    end if;
    if :"schema"._dead_replay(1::smallint, array[found_id], reason) = 0 then
        select i.status into state from :"schema"._item i where i.work_id = found_id and i.reader = 1;
        raise exception using errcode = 'BX003',
            message = format('message %s is %s, not dead, and cannot be revived', found_id, coalesce(state, 'lost'));
    end if;
    return found_id;
end $$;
