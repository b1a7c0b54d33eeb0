-- Takes messages out of their leases one by one, with the caller's delay and error for each: these go with ids by
-- position, or hold one value for all. An id that is given twice counts once, with the first values. Everything comes
-- back in the order of work ids; taken is null when the owner had none of them.
create or replace function :"schema"._take_each(
    p_box smallint, p_owner uuid, ids bigint[], epochs bigint[], default_delay bigint, delays bigint[],
    errors text[],
    out taken bigint[], out taken_epochs bigint[], out taken_delays bigint[], out taken_errors text[])
language plpgsql volatile :hot
set enable_hashjoin = on as $$
begin
    if p_box > 1 then
        perform :"schema"._log_box(p_box);   -- there is such a reader
    end if;
    -- Mostly there is one value for all.
    if delays is not null and (cardinality(delays) = 1 and delays[1] between -1 and :delay_ms_max) is not true
       and exists (select from unnest(delays) x where x not between -1 and :delay_ms_max) then
        perform :"schema"._invalid('delay', 'is out of range: give 0 to :delay_days_max days');
    end if;
    with t as materialized (
        select i as id, t.epoch from :"schema"._take(p_box, p_owner, ids, epochs) t, :"schema"._ids(t.items) i),
    first_mentions as (
        select distinct on (u.id) u.id, u.n from unnest(ids) with ordinality u(id, n) order by u.id, u.n)
    select array_agg(t.id order by t.id), array_agg(t.epoch order by t.id),
           array_agg(coalesce(case when cardinality(delays) = 1 then delays[1] else delays[s.n] end,
                              default_delay) order by t.id),
           array_agg(:"schema"._cap_error(
               case when cardinality(errors) = 1 then errors[1] else errors[s.n] end) order by t.id)
    into taken, taken_epochs, taken_delays, taken_errors
    from t join first_mentions s on s.id = t.id;
end $$;
