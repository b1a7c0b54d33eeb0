-- Whether a destination is a topic of this store.
create or replace function :"schema"._is_local(destination text) returns boolean
language plpgsql immutable :pinned as $$
begin
    return destination !~ '^(store|tenant):';
end $$;
