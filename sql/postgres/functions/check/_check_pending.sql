-- Raises BX003 unless the join is pending and its deadline has not passed.
create or replace function :"schema"._check_pending(j :"schema".join_row, ts timestamptz) returns void
language plpgsql immutable :pinned as $$
begin
    if j.status <> 0 then
        perform :"schema"._join_ended(j.join_id);
    end if;
    if j.deadline <= ts then
        raise exception using errcode = 'BX003',
            message = format('the deadline of join %s has passed', j.join_id);
    end if;
end $$;
