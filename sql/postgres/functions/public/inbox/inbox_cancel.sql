-- outbox_cancel for the inbox.
create or replace function :"schema".inbox_cancel(work_id bigint default null, message_id uuid default null)
returns bigint language plpgsql volatile security definer :hot as $$
begin
    if (work_id is null) = (message_id is null) then
        perform :"schema"._invalid('work_id', 'or message_id: give exactly one');
    end if;
    return :"schema"._cancel(1::smallint, work_id, message_id);
end $$;
