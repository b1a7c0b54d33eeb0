-- The arguments that all settling calls share.
create or replace function :"schema"._check_settle(owner uuid, work_ids bigint[], epochs bigint[])
returns void language plpgsql immutable :pinned as $$
declare
    fault constant text[] := case
        when owner is null or owner = '00000000-0000-0000-0000-000000000000'
            then array['owner', 'is missing: give the UUID that claimed']
        when work_ids is null or array_ndims(work_ids) > 1 or array_position(work_ids, null) is not null
            then array['work_ids', 'is null, contains null or has more than one dimension']
        when epochs is not null and cardinality(epochs) <> cardinality(work_ids)
            then array['epochs', 'must have as many entries as work_ids, or be null'] end;
begin
    if fault is not null then
        perform :"schema"._invalid(fault[1], fault[2]);
    end if;
end $$;
