-- The first claim of a request of the library: messages that the request itself has stored, named by their message ids.
-- The library sends this behind them, in their transaction. A message that was there before under such an id belongs to
-- another transaction. p_number as in _claim_numbered.
create or replace function :"schema"._claim_own(
    p_box smallint, p_owner uuid, lease interval, wanted int, exact text[], prefixes text[], message_ids uuid[],
    p_number bigint, max_bytes bigint)
returns setof :"schema".claimed_message language plpgsql volatile security definer :hot as $$
begin
    perform :"schema"._check_claim(p_owner, lease, wanted);
    if (max_bytes between :batch_bytes_min and :batch_bytes_max) is not true then
        perform :"schema"._invalid('batch_bytes', 'is out of range: give :batch_bytes_min to :batch_bytes_max');
    end if;
    if p_box > 1 and :"schema"._is_paused(p_box) then
        return;
    end if;
    perform :"schema"._sign_of_life(p_owner);
    return query select * from unnest(:"schema"._lease_stored(
        p_box, p_owner, lease, wanted, exact, prefixes, array(
            select distinct m.work_id from unnest(message_ids) i cross join lateral (
                select x.work_id, x.box, x.xid from :"schema".message x where x.message_id = i limit 1) m
            where m.box = case when p_box < 2 then p_box else :"schema"._log_box(p_box) end and m.xid = pg_current_xact_id()),
        p_number, max_bytes));
end $$;
