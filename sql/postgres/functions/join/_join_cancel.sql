-- Ends a pending join. BX002: there is none; BX003: too late.
create or replace function :"schema"._join_cancel(p_join uuid)
returns table (counted boolean, ended boolean, expected_steps int, completed_steps int, failed_steps int,
               status text, reason text)
language plpgsql volatile security definer :hot as $$
#variable_conflict use_column
declare
    ts timestamptz;
    j :"schema".join_row;
begin
    perform :"schema"._check_join(p_join, null, null);
    select * into j from :"schema".join_row x where x.join_id = p_join for no key update;
    if not found then
        raise exception using errcode = 'BX002', message = 'there is no join ' || p_join;
    end if;
    perform :"schema"._lock_lanes(p_join);
    ts := clock_timestamp();   -- not before this transaction had the join
    perform :"schema"._check_pending(j, ts);
    perform :"schema"._end_joins(array[p_join], 3::smallint, null, ts);
    return query select * from :"schema"._join_change(p_join, false, true);
end $$;
