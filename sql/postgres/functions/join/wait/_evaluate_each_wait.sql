-- _evaluate_waits, one by one: a wait that cannot be evaluated is put off for a minute, and named in a warning. Returns how
-- many were evaluated or put off.
create or replace function :"schema"._evaluate_each_wait(ids bigint[], ts timestamptz) returns bigint
language plpgsql volatile as $$
declare
    id bigint;
    total bigint := 0;
begin
    foreach id in array ids loop
        begin
            total := total + :"schema"._evaluate_waits(array[id], ts);
        exception
            when serialization_failure or deadlock_detected then
                raise;
            when others then
                perform :"schema"._warn_of_trouble('a wait cannot be evaluated, put off for a minute', 'message ' || id, sqlstate);
                update :"schema".parked p set available_at = ts + interval '1 minute'
                where p.work_id = (select x.work_id from :"schema".parked x where x.work_id = id and x.epoch is null
                                   for update skip locked);
                total := total + 1;
        end;
    end loop;
    return total;
end $$;
