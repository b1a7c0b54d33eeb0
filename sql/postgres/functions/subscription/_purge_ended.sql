-- Purges messages that all readers of a box have ended, past their retention: _purge_done for stores that have had subscriptions. No
-- table leads to such messages, so this goes through the old end of the log, round after round, some thousand messages a call. It
-- stops where messages are younger than the retention, and after a stretch that a single reader holds back. A round that took long
-- is followed by a pause twenty times as long, at most ten minutes. more: the round goes on.
create or replace function :"schema"._purge_ended(p_log smallint, most int, out purged bigint, out more boolean)
language plpgsql volatile :hot as $$
declare
    ts constant timestamptz := clock_timestamp();
    cutoff constant timestamptz := ts - make_interval(secs => :"schema"._setting('retention_done', 7 * 86400000.0) / 1000);
    l :"schema".upkeep_look;
    ids bigint[];
    cost double precision;
begin
    purged := 0;
    more := false;
    select * into l from :"schema".upkeep_look x where x.box = p_log;
    if l.ended_from = 0 and l.ended_at between ts and ts + interval '10 minutes' then
        return;
    end if;
    ids := array(
        select x.work_id from (
            select m.work_id, m.created_at from :"schema".message m
            where m.box = p_log and m.work_id > l.ended_from order by m.work_id limit 2 * most) x
        where x.created_at <= cutoff);
    if ids <> '{}' then
        purged := :"schema"._remove_ended(p_log, ids);
    end if;
    more := cardinality(ids) = 2 * most and (purged > 0 or not exists (
        select from :"schema".reader r
        where r.box = p_log and r.removed_at is null
          and :"schema"._is_fresh_for(r.number, ids[1]) and :"schema"._is_fresh_for(r.number, ids[cardinality(ids)])));
    cost := case when l.ended_from > 0 then l.ended_cost else 0 end + extract(epoch from clock_timestamp() - ts);
    if more or l.ended_from > 0 or cost > 0.1 then
        update :"schema".upkeep_look x
        set ended_from = case when more then ids[cardinality(ids)] else 0 end, ended_cost = cost,
            ended_at = case when not more and cost > 0.1 then ts + least(make_interval(secs => 20 * cost), interval '10 minutes') end
        where x.box = p_log;
    end if;
end $$;
