-- Releases every expired lease of a box.
create or replace function :"schema"._reap(p_box smallint) returns bigint
language plpgsql volatile security definer :hot as $$
declare
    step bigint;
    total bigint := 0;
begin
    loop
        step := :"schema"._expire_leases(p_box, '-infinity', 100);
        exit when step = 0;
        total := total + step;
    end loop;
    return total;
end $$;
