-- Buries a message that is not in progress, for the main reader of the box or for a subscription. Give one of the two ids; returns the
-- work id.
create or replace function :"schema".outbox_cancel(work_id bigint default null, message_id uuid default null,
                                                         subscription text default null)
returns bigint language plpgsql volatile security definer :hot as $$
begin
    if (work_id is null) = (message_id is null) then
        perform :"schema"._invalid('work_id', 'or message_id: give exactly one');
    end if;
    return :"schema"._cancel(
        case when subscription is null then 0::smallint else :"schema"._reader(subscription, 0::smallint) end,
        work_id, message_id);
end $$;
