-- outbox_reap for the inbox.
create or replace function :"schema".inbox_reap() returns bigint
language plpgsql volatile security definer :hot as $$
begin
    return :"schema"._reap(1::smallint);
end $$;
