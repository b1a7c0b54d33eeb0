-- The messages that an owner has leased in a box, except `without`; only_these: of these alone, null = all.
create or replace function :"schema"._owned_work(
    p_box smallint, p_owner uuid, without bigint[], only_these bigint[])
returns :"schema".claimed_message[] language plpgsql stable :hot as $$
declare
    wanted constant int8multirange := case when only_these is null then '{(,)}' else :"schema"._multirange(only_these) end
                                      - :"schema"._multirange(without);
begin
    return array(
        select c from (
            select * from :"schema".lease l where l.box = p_box and l.owner = p_owner and l.items && wanted
            order by l.epoch, l.part offset 0) l
        cross join lateral :"schema"._claimed_rows(p_box, l.items * wanted, l.has_parked, l.epoch, p_owner, l.until) c
        order by c.work_id);
end $$;
