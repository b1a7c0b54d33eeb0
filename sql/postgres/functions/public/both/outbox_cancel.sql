-- Buries a message that is not in progress. Give one of the two ids; returns the work id.
create or replace function :"schema".outbox_cancel(work_id bigint default null, message_id uuid default null)
returns bigint language plpgsql volatile security definer :hot as $$
begin
    if (work_id is null) = (message_id is null) then
        perform :"schema"._invalid('work_id', 'or message_id: give exactly one');
    end if;
    return :"schema"._cancel(0::smallint, work_id, message_id);
end $$;
