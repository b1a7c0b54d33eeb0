-- Buries a message that is not in progress (BX-028). BX002: there is none; BX003: too late. To cancel it for the main reader ends it
-- for all readers that have neither claimed nor ended it; to cancel it for a subscription ends that delivery alone.
create or replace function :"schema"._cancel(p_box smallint, p_work_id bigint, p_message_id uuid) returns bigint
language plpgsql volatile security definer :hot as $$
declare
    id bigint := :"schema"._find_id(p_box, p_work_id, p_message_id);
    state text;
    got record;
    others bigint := 0;   -- subscriptions for which this has cancelled it
begin
    if id is null then
        raise exception using errcode = 'BX002', message = 'no such message';
    end if;
    got := :"schema"._cancel_delivery(p_box, id);
    state := got.state;
    if p_box < 2 and (got.cancelled or state is null) and pg_sequence_last_value(':"schema".reader_number') is not null then
        select count(*) filter (where c.cancelled) into others
        from (select r.number from :"schema".reader r
              where r.box = p_box and r.number > 1 and r.removed_at is null order by r.number offset 0) r
        cross join lateral :"schema"._cancel_delivery(r.number, id) c;
    end if;
    if not got.cancelled and others = 0 then
        raise exception using errcode = 'BX003',
            message = format('message %s is %s and cannot be cancelled', id, coalesce(state, case when p_box < 2 then 'lost' else 'not for it' end));
    end if;
    return id;
end $$;
