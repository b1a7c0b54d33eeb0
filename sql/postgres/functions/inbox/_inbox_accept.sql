-- Marks a key as done in the caller's transaction, unless it is known as more than seen. Says whether it was new: of
-- transactions that ask at the same time, exactly one that commits gets true, and the others wait for it.
create or replace function :"schema"._inbox_accept(
    p_source text, p_external_id text, p_hash text, p_id uuid, out is_new boolean, out hash_mismatch boolean)
language plpgsql volatile security definer :hot as $$
declare
    known record;
begin
    select * into known from :"schema"._note_keys(
        array[p_source], array[p_external_id], array[p_hash], array[p_id], 2::smallint);
    is_new := known.is_ours;
    hash_mismatch := coalesce(p_hash <> known.content_hash, false);
end $$;
