-- Releases all messages whose lease has expired; returns how many.
create or replace function :"schema".outbox_reap() returns bigint
language plpgsql volatile security definer :hot as $$
begin
    return :"schema"._reap(0::smallint);
end $$;
