-- Purges messages that all readers of a box have ended, past their retention: _purge_done for stores that have had subscriptions. No
-- table leads to such messages, so this goes through the old end of the log, round after round, some thousand messages a call,
-- whatever box they are in. It ends where messages are younger than the retention. After a stretch that a single reader holds back it
-- goes on with the next call. A round that took long is followed by a pause twenty times as long, at most ten minutes. more: the
-- round goes on at once.
create or replace function :"schema"._purge_ended(p_log smallint, most int, out purged bigint, out more boolean)
language plpgsql volatile :hot as $$
declare
    ts constant timestamptz := clock_timestamp();
    cutoff constant timestamptz := ts - make_interval(secs => :"schema"._setting('retention_done', 7 * 86400000.0) / 1000);
    l :"schema".upkeep_look;
    ids bigint[];
    looked record;   -- at how many, and to where; how many of them were old enough
    is_full boolean;
    cost double precision;
begin
    purged := 0;
    more := false;
    select * into l from :"schema".upkeep_look x where x.box = p_log;
    if l.ended_from = 0 and l.ended_at between ts and ts + interval '10 minutes' then
        return;
    end if;
    select count(*) filter (where x.created_at <= cutoff) as old, max(x.work_id) as last,
           array_agg(x.work_id order by x.work_id) filter (where x.box = p_log and x.created_at <= cutoff) as ids
    into looked from (
        select m.work_id, m.created_at, m.box from :"schema".message m
        where m.work_id > l.ended_from order by m.work_id limit 2 * most) x;
    ids := coalesce(looked.ids, '{}');
    is_full := looked.old = 2 * most;
    if ids <> '{}' then
        purged := :"schema"._remove_ended(p_log, ids);
    end if;
    more := is_full and (purged > 0 or ids = '{}' or not exists (
        select from :"schema".reader r
        where r.box = p_log and r.removed_at is null
          and :"schema"._is_fresh_for(r.number, ids[1]) and :"schema"._is_fresh_for(r.number, ids[cardinality(ids)])));
    cost := case when l.ended_from > 0 then l.ended_cost else 0 end + extract(epoch from clock_timestamp() - ts);
    if is_full or l.ended_from > 0 or cost > 0.1 then
        update :"schema".upkeep_look x
        set ended_from = case when is_full then looked.last else 0 end, ended_cost = cost,
            ended_at = case when not is_full and cost > 0.1 then ts + least(make_interval(secs => 20 * cost), interval '10 minutes') end
        where x.box = p_log;
    end if;
end $$;
