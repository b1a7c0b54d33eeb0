-- What abandon and defer share: take out of the lease, put into the parking lot.
create or replace function :"schema"._give_back(
    p_box smallint, p_owner uuid, ids bigint[], epochs bigint[], p_outcome text, default_delay bigint,
    delays bigint[], errors text[])
returns bigint[] language plpgsql volatile :hot as $$
declare
    ts timestamptz := clock_timestamp();
    taken bigint[];
    taken_epochs bigint[];
    taken_delays bigint[];
    taken_errors text[];
begin
    with t as materialized (
        select i as id, t.epoch from :"schema"._take(p_box, p_owner, ids, epochs) t, :"schema"._ids(t.items) i),
    said as (
        select distinct on (u.id) u.id, u.n from unnest(ids) with ordinality u(id, n) order by u.id, u.n)
    select array_agg(t.id order by t.id), array_agg(t.epoch order by t.id),
           array_agg(coalesce(case when cardinality(delays) = 1 then delays[1] else delays[s.n] end,
                              default_delay) order by t.id),
           array_agg(:"schema"._cap_error(
               case when cardinality(errors) = 1 then errors[1] else errors[s.n] end) order by t.id)
    into taken, taken_epochs, taken_delays, taken_errors
    from t join said s on s.id = t.id;

    if taken is null then
        return '{}';
    end if;
    perform :"schema"._release(p_box, taken, array_fill(p_owner, array[cardinality(taken)]), taken_epochs, p_outcome,
                                 taken_delays, taken_errors, ts);
    return taken;
end $$;
