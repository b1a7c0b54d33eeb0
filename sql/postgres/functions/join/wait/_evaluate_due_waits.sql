-- Evaluates waits that are due, at most `most`. Upkeep and workers call it, so waits also end where no worker claims
-- them. A wait whose join is pending is put off. In a transaction of its own, since joins stay locked until the commit.
-- If the waits cannot be evaluated together, each is tried by itself, so a fault of one does not concern the others: it is
-- put off for a minute, and named in a warning.
-- evaluated: how many; ended: joins that ended because waits are their steps. If none is due, this comes past waits
-- that no claim has met (_meet_waits). evaluated is 1 then, so that the caller calls again.
create or replace function :"schema"._evaluate_due_waits(most int, out evaluated bigint, out ended uuid[])
language plpgsql volatile security definer :hot as $$
declare
    ts timestamptz := clock_timestamp();
    waits constant text := :"schema"._wait_topic();
    ids bigint[];
    id bigint;
begin
    perform :"schema"._check_most('most', most);
    ids := array(
        select p.work_id from :"schema".parked p
        where p.box = 0 and p.epoch is null and p.stream is null and p.crash_count < 0
          and p.topic = waits collate "C" and p.available_at <= ts
        order by p.available_at limit most);
    if ids = '{}' then   -- not before that: joins may have to be waited for, which must not happen under the turn
        evaluated := :"schema"._meet_waits()::int;
        ended := '{}';
        return;
    end if;
    begin
        evaluated := :"schema"._evaluate_waits(ids, ts);
    exception
        when serialization_failure or deadlock_detected then
            raise;
        when others then
            evaluated := null;   -- each by itself
    end;
    if evaluated is null then
        evaluated := 0;
        foreach id in array ids[:100] loop
            begin
                evaluated := evaluated + :"schema"._evaluate_waits(array[id], ts);
            exception
                when serialization_failure or deadlock_detected then
                    raise;
                when others then
                    perform :"schema"._warn_of_trouble('a wait cannot be evaluated, put off for a minute', 'message ' || id,
                                                       sqlstate);
                    update :"schema".parked p set available_at = ts + interval '1 minute'
                    where p.box = 0 and p.work_id = (select x.work_id from :"schema".parked x where x.work_id = id and x.box = 0 and x.epoch is null
                                       for update skip locked);
                    evaluated := evaluated + 1;
            end;
        end loop;
    end if;
    ended := case when evaluated > 0 then array(select e.join_id from :"schema"._joins_ended() e) else '{}' end;
end $$;
