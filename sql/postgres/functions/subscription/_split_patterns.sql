-- Topics as people write them, in the form that claims take: exact ones, and prefixes without their *. Everything: both null.
create or replace function :"schema"._split_patterns(patterns text[], out exact text[], out prefixes text[])
language plpgsql immutable :pinned as $$
begin
    if patterns is null or '*' = any (patterns) then
        return;
    end if;
    select coalesce(array_agg(distinct t) filter (where t not like '%*'), '{}'),
           coalesce(array_agg(distinct left(t, -1)) filter (where t like '%*'), '{}')
    into exact, prefixes from unnest(patterns) t;
end $$;
