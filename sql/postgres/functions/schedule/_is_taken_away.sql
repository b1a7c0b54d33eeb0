-- Does a subscription take this topic away from the main reader of the outbox, which joins follow (BX-095)?
create or replace function :"schema"._is_taken_away(p_topic text) returns boolean
language plpgsql stable :pinned as $$
begin
    return exists (
        select from :"schema".reader r, unnest(coalesce(r.patterns, '{*}')) p
        where r.box = 0 and r."only" and r.removed_at is null and r.number > 1 and :"schema"._may_match(p_topic, false, p));
end $$;
