-- As _lock_ahead; the library of schema version 8 calls it by this name.
create or replace function :"schema"._lock_joins(
    p_owner uuid, outbox_ids bigint[], inbox_ids bigint[], joins uuid[]) returns void
language plpgsql volatile security definer :pinned as $$
begin
    perform :"schema"._lock_ahead(p_owner, outbox_ids, inbox_ids, '{}', '{}', joins);
end $$;
