-- Buries messages of a lane that expired before any claimer met them, at most max_messages; returns how many.
-- expired_from keeps the search off messages that were dealt with before. It lags a minute behind for transactions that
-- commit late (and a claimer never hands out an expired message anyway). A message of a stream that another transaction
-- holds is left for later.
create or replace function :"schema"._expire_fresh(p_box smallint, p_lane smallint, max_messages int)
returns bigint language plpgsql volatile security definer :hot as $$
declare
    ts timestamptz := clock_timestamp();
    f :"schema".frontier := :"schema"._frontier(p_box, p_lane);
    due bigint[];
    ids bigint[];
    last_expiry timestamptz;
    skips constant boolean := pg_sequence_last_value(':"schema".skip_flag') is not null;
begin
    perform :"schema"._check_most('max_messages', max_messages);
    select array_agg(x.work_id), max(x.expires_at) into due, last_expiry from (
        select m.work_id, m.expires_at from :"schema".message m
        where m.box = f.log_box and m.expires_at >= f.expired_from and m.expires_at <= ts and m.lane = p_lane
          and m.era = f.era and not case p_lane when 0 then :"schema"._is_behind(f, m.xid, m.work_id)
                                                else :"schema"._is_met(f, m.xid, m.work_id, m.stream) end
          and :"schema"._reads(f.choosy, f.in_exact, f.in_prefixes, f.but_exact, f.but_prefixes, f.from_time, f.from_id,
                               m.topic, m.created_at, m.work_id)
          and (not skips or not :"schema"._is_left_out(p_box, m.work_id))
        order by m.expires_at limit max_messages for update skip locked) x;
    if due is null then
        -- There is nothing to bury, but maybe much to look past next time.
        if exists (select from :"schema".message m where m.box = f.log_box and m.expires_at >= f.expired_from
                     and m.expires_at <= ts - interval '1 minute') and :"schema"._turn(p_box, true) then
            f := :"schema"._frontier(p_box, p_lane);
            f.seq := f.seq + 1;
            f.expired_from := greatest(f.expired_from, ts - interval '1 minute');
            perform :"schema"._add_frontier(f);
        end if;
        -- There may be only claimers that cannot sort (_heads_inside), or none.
        if p_lane = 1 and :"schema"._is_unsorted(p_box, ts - interval '10 seconds') and :"schema"._turn(p_box, true) then
            perform :"schema"._tend_streams(p_box, (:"schema"._frontier(p_box, 0::smallint)).due_from);
        end if;
        return 0;
    end if;
    ids := case p_lane when 1 then :"schema"._free_to_die(p_box, due) else due end;
    if ids = '{}' then
        return 0;
    end if;
    perform :"schema"._bury_fresh(
        p_box, p_lane, ids, 3::smallint, 'expired', null,
        case when ids = due then least(ts - interval '1 minute',
                                       case when cardinality(due) >= max_messages then last_expiry end) end, ts);
    return cardinality(ids);
end $$;
