-- Releases all messages whose lease has expired; returns how many.
create or replace function :"schema".outbox_reap(subscription text default null) returns bigint
language plpgsql volatile security definer :hot as $$
begin
    return :"schema"._reap(case when subscription is null then 0::smallint else :"schema"._reader(subscription, 0::smallint) end);
end $$;
