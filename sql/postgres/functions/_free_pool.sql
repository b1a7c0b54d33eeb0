-- Messages in the pool whose holders have ended are free again. (Those that a holder took are not in the pool any more.)
create or replace function :"schema"._free_pool(p_box smallint) returns void
language plpgsql volatile as $$
begin
    update :"schema".pool p set holder = null
    where p.ctid = any (array(
        select x.ctid from :"schema".pool x
        where x.box = p_box and x.holder is not null and not :"schema"._is_running(x.holder) for update skip locked));
end $$;
