-- Locks unique keys before everything else that a transaction locks. A free key is taken under its own id until the
-- message that gets it is stored.
create or replace function :"schema"._hold_keys(keys uuid[]) returns void
language plpgsql volatile security definer :hot as $$
begin
    perform :"schema"._take_keys(keys, keys);
end $$;
