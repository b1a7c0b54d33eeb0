-- Locks unique keys ahead of everything else that a transaction locks. Free ones are taken under their own names, until
-- the message is stored that gets the key.
create or replace function :"schema"._hold_keys(keys uuid[]) returns void
language plpgsql volatile security definer :hot as $$
begin
    perform :"schema"._take_keys(keys, keys);
end $$;
