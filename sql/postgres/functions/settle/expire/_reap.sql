-- Releases every expired lease of a box.
create or replace function :"schema"._reap(p_box smallint) returns bigint
language plpgsql volatile security definer :hot as $$
begin
    if p_box > 1 then
        perform :"schema"._log_box(p_box);   -- there is such a reader
    end if;
    return :"schema"._expire_leases(p_box, '-infinity', null);   -- in one go: joins are locked in order then
end $$;
