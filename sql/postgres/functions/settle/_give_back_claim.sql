-- Gives back the messages of a claim whose answer its claimer did not receive. No attempt is spent: the claimer lives
-- and says so, and nothing crashed. The number that the claimer gave the claim finds it, so nothing else of this owner
-- is touched. Returns how many messages that were. 0: there was nothing to lease, or the claim has not committed, and
-- may yet.
create or replace function :"schema"._give_back_claim(p_box smallint, p_owner uuid, p_number bigint) returns bigint
language plpgsql volatile security definer :hot as $$
declare
    f :"schema".frontier := :"schema"._frontier(p_box, 0::smallint);
    ids bigint[];
    epochs bigint[];
begin
    perform :"schema"._sign_of_life(p_owner);
    with gone as (
        delete from :"schema".lease l
        where l.box = p_box and l.owner = p_owner and l.until >= f.lease_from and l.claim_number = p_number
        returning l.epoch, l.items)
    select array_agg(i order by i), array_agg(g.epoch order by i) into ids, epochs
    from gone g, :"schema"._ids(g.items) i;
    if ids is null then
        return 0;
    end if;
    perform :"schema"._release(p_box, ids, array_fill(p_owner, array[cardinality(ids)]), epochs, null,
                               array_fill(0::bigint, array[cardinality(ids)]), null, clock_timestamp());
    return cardinality(ids);
end $$;
