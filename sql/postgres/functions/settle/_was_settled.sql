-- Which of these messages did this owner settle before under these leases? For a caller that lost the connection while
-- it waited for the answer and repeats the call: the first call did it.
create or replace function :"schema"._was_settled(
    p_box smallint, p_outcome text, p_owner uuid, ids bigint[], epochs bigint[])
returns bigint[] language plpgsql stable security definer :hot as $$
begin
    if p_outcome = 'acked' then
        return array(
            select distinct i.id from unnest(ids, epochs) i(id, epoch),
                 :"schema"._finished(p_box, i.id) f
            where f.owner = p_owner and coalesce(i.epoch, 0) in (0, f.epoch));
    end if;
    return array(
        select distinct i.id from unnest(ids, epochs) i(id, epoch)
        join :"schema".attempt a on a.work_id = i.id and a.reader = case when p_box > 1 then p_box else 0 end
        where a.owner = p_owner and a.outcome = p_outcome and i.epoch = a.epoch);
end $$;
