-- A batch's part for a box, without the names whose value is null: null means absent. The lists stay as they are.
create or replace function :"schema"._without_nulls(part jsonb) returns jsonb
language plpgsql immutable :pinned as $$
begin
    if part is null or jsonb_typeof(part) = 'null' then
        return '{}'::jsonb;
    end if;
    if jsonb_path_exists(part, 'strict $.* ? (@ == null)', silent => true) then
        return (select coalesce(jsonb_object_agg(e.key, e.value), '{}') from jsonb_each(part) e where e.value <> 'null');
    end if;
    return part;
end $$;
