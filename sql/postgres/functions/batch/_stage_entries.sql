-- The stages that a part of a batch records, in the form of its list: those of the list, and those that come with a
-- result.
create or replace function :"schema"._stage_entries(part jsonb) returns jsonb
language plpgsql immutable :pinned as $$
begin
    if not jsonb_path_exists(part, 'strict $.*[*].stages', silent => true) then
        return part -> 'stages';
    end if;
    return (
        select jsonb_agg(e.o) from unnest(array['stages', 'acks', 'abandons', 'defers', 'fails']) l
        cross join lateral jsonb_array_elements(part -> l) e(o) where e.o ->> 'stages' is not null);
end $$;
