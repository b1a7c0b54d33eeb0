-- Messages of the plain lane whose rows this transaction has locked: fails if a claimer has one of them. It first waits
-- for claimers that may have found one free before the lock (as in _claim_inside). Otherwise this transaction has them,
-- in the pool or beyond the frontier.
create or replace function :"schema"._hold_fresh(p_box smallint, ids bigint[]) returns void
language plpgsql volatile as $$
declare
    f :"schema".frontier;
    wanted constant int8multirange := :"schema"._multirange(ids);
    places bigint[];
begin
    places := array(select p.place from :"schema".pool p where p.box = p_box and p.items && wanted);
    if not :"schema"._let_others_end(p_box, places, true) then
        raise exception using errcode = '55P03', message = 'claimers are busy; try again';
    end if;
    f := :"schema"._frontier(p_box, 0::smallint);
    if not :"schema"._are_in_pool(p_box, array(
               select m.work_id from :"schema".message m
               where m.work_id = any (ids) and (m.era <> f.era or :"schema"._is_behind(f, m.xid, m.work_id))), places) then
        raise exception using errcode = '40001', message = 'a message was claimed meanwhile; try again';
    end if;
end $$;
