-- Waits until the transactions that have these rows of the pool now have ended, and with_turn also the one that has the
-- turn. Nothing stays locked: the subtransaction is rolled back. false: that took too long.
create or replace function :"schema"._let_others_end(p_box smallint, places bigint[], with_turn boolean) returns boolean
language plpgsql volatile set lock_timeout = '2s' as $$
begin
    if places is not null then
        perform from :"schema".pool p where p.box = p_box and p.place = any (places) order by p.place for share;
    end if;
    if with_turn and not :"schema"._turn(p_box, true) then
        return false;
    end if;
    raise exception using errcode = 'BX098';
exception
    when sqlstate 'BX098' then
        return true;
    when lock_not_available then
        return false;
end $$;
