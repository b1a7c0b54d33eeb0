-- Whose work completes slices: that of the main reader, and of subscriptions that take topics away from it.
create or replace function :"schema"._slice_readers() returns smallint[]
language plpgsql stable :pinned as $$
begin
    return '{0}' || array(
        select r.number from :"schema".reader r where r.box = 0 and r."only" and r.removed_at is null and r.number > 1);
end $$;
