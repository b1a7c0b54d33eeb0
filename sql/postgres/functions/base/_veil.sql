-- The id that other callers see instead of an owner's id: always the same one, which settles nothing.
-- boxcar_instance_is() in C computes the same.
create or replace function :"schema"._veil(owner uuid) returns uuid
language plpgsql immutable strict :pinned as $$
begin
    return :"schema"._derive_id('boxcar:owner:', owner::text);
end $$;
