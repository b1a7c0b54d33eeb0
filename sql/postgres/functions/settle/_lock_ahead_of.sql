-- _lock_ahead for requests whose parts may be those of subscriptions: first and second are the readers of the two parts. Joins follow
-- the main readers, so ids are those of main readers' messages where they may count.
create or replace function :"schema"._lock_ahead_of(
    p_first smallint, p_second smallint, p_owner uuid, first_ids bigint[], second_ids bigint[], first_defers bigint[],
    second_defers bigint[], joins uuid[])
returns void language plpgsql volatile security definer :hot as $$
declare
    first_parked int8multirange;
    second_parked int8multirange;
begin
    if p_second < p_first then   -- everybody in the order of their numbers
        perform :"schema"._lock_ahead_of(p_second, p_first, p_owner, second_ids, first_ids, second_defers, first_defers, joins);
        return;
    end if;
    first_parked := :"schema"._hold_leases(p_first, p_owner, first_ids || first_defers);
    second_parked := :"schema"._hold_leases(p_second, p_owner, second_ids || second_defers);
    perform :"schema"._hold_streams(p_first, first_parked);
    perform :"schema"._hold_streams(p_second, second_parked);
    perform :"schema"._lock_in_time(array_agg(j.join_id), array_agg(j.steps))
    from (select i as join_id, null as steps from unnest(joins) i
          union all
          select s.join_id, sum(s.last_id - s.first_id + 1)::bigint
          from :"schema"._steps(:"schema"._multirange(case when p_first < 2 then first_ids else '{}' end
                                                 || case when p_second < 2 then second_ids else '{}' end)) s
          group by s.join_id) j
    having count(*) > 0;
end $$;
