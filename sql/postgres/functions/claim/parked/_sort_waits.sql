-- Waits are parked in a place of their own (0010), according to the setting join_wait_topic at that time. A transaction
-- that parks a wait while the setting changes leaves it in the wrong place, where no claim looks for it: this puts such
-- messages right. It also parks messages in the pool that were ordinary ones before.
create or replace function :"schema"._sort_waits(most int) returns void
language plpgsql volatile as $$
declare
    waits constant text collate "C" := :"schema"._wait_topic();
    pooled record;
begin
    update :"schema".parked p set crash_count = -1 - p.crash_count
    where p.box = 0 and p.work_id = any (array(
        select x.work_id from :"schema".parked x
        where x.box = 0 and x.epoch is null and x.stream is null and x.crash_count < 0 and x.topic < waits
        limit most for update skip locked) || array(
        select x.work_id from :"schema".parked x
        where x.box = 0 and x.epoch is null and x.stream is null and x.crash_count < 0 and x.topic > waits
        limit most for update skip locked) || array(
        select x.work_id from :"schema".parked x
        where x.box = 0 and x.epoch is null and x.stream is null and x.crash_count = 0 and x.topic = waits
        limit most for update skip locked));
    for pooled in
        select x.place, x.items from :"schema".pool x where x.box = 0 and x.topic = waits and x.holder is null
        order by x.topic, x.place limit most for update skip locked
    loop
        delete from :"schema".pool x where x.box = 0 and x.place = pooled.place;
        insert into :"schema".parked (work_id, box, available_at, topic, crash_count)
        select i, 0, clock_timestamp(), waits, -1 from :"schema"._ids(:"schema"._sidestep(0::smallint, pooled.items)) i;
    end loop;
end $$;
