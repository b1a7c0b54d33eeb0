-- The names of an object that stands for a call. Texts have to be strings, or null; of others only the names are looked
-- at.
create or replace function :"schema"._check_names(place text, o jsonb, texts text[], others text[]) returns void
language plpgsql immutable :pinned as $$
declare
    wrong text;
begin
    select k into wrong from jsonb_object_keys(o) k
    where case when k = any (texts) then jsonb_typeof(o -> k) not in ('string', 'null') else k <> all (others) end limit 1;
    if found then
        perform :"schema"._invalid(place || wrong,
                                   case when wrong = any (texts) then 'must be a text' else 'is not a known name' end);
    end if;
end $$;
