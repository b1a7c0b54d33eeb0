-- The arguments that all settling calls share.
create or replace function :"schema"._check_settle(owner uuid, work_ids bigint[], epochs bigint[])
returns void language plpgsql immutable :pinned as $$
begin
    if owner is null or owner = '00000000-0000-0000-0000-000000000000' then
        perform :"schema"._invalid('owner', 'is missing: give the UUID that claimed');
    end if;
    if work_ids is null or array_ndims(work_ids) > 1 or array_position(work_ids, null) is not null then
        perform :"schema"._invalid('work_ids', 'is null, contains null or has more than one dimension');
    end if;
    if epochs is not null and cardinality(epochs) <> cardinality(work_ids) then
        perform :"schema"._invalid('epochs', 'must have as many entries as work_ids, or be null');
    end if;
end $$;
