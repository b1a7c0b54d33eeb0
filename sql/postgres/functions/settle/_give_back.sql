-- The common part of abandon and defer: takes messages out of their leases and puts them into the parking lot.
create or replace function :"schema"._give_back(
    p_box smallint, p_owner uuid, ids bigint[], epochs bigint[], p_outcome text, default_delay bigint,
    delays bigint[], errors text[])
returns bigint[] language plpgsql volatile :hot as $$
declare
    ts timestamptz := clock_timestamp();
    ours record;
begin
    perform :"schema"._sign_of_life(p_owner);
    select * into ours from :"schema"._take_each(p_box, p_owner, ids, epochs, default_delay, delays, errors);
    if ours.taken is null then
        return '{}'::bigint[];
    end if;
    perform :"schema"._release(
        p_box, ours.taken, array_fill(p_owner, array[cardinality(ours.taken)]), ours.taken_epochs, p_outcome,
        ours.taken_delays, ours.taken_errors, ts);
    return ours.taken;
end $$;
