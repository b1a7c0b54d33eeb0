-- The rules for a claim. Functions of the library that roles can call first test a cheap condition (_claim_items).
create or replace function :"schema"._check_claim(owner uuid, lease interval, batch_size int) returns void
language plpgsql immutable :pinned as $$
begin
    perform :"schema"._check_settle(owner, '{}', null);
    perform :"schema"._check_lease(lease);
    if batch_size is null or batch_size not between 1 and :batch_size_max then
        perform :"schema"._invalid('batch_size', 'is out of range: give 1 to :batch_size_max');
    end if;
end $$;
