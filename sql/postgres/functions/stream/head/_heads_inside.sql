-- Leases heads of streams, as _claim_heads does, for a claim inside a transaction of the caller, which may stay open
-- for long. It has no turn, so it takes only messages that other claimers have come past, and changes no stream from
-- which it takes nothing. Such streams must not stay locked either: if there are any, it gives all locks back and locks
-- only the other streams again.
--
-- It must not move a stream's position: a claimer that comes past a message that commits late compares the message with
-- the position that it sees. So messages that this takes from the log leave the log, and are parked.
create or replace function :"schema"._heads_inside(
    p_box smallint, p_epoch bigint, wanted int, p_suspect boolean, due_from timestamptz, ts timestamptz,
    exact text[], prefixes text[], p_owner uuid, p_except text)
returns bigint[] language plpgsql volatile :hot as $$
declare
    -- More than wanted: some of them may have nothing for the claimer.
    candidates text[] := :"schema"._ready_streams(p_box, wanted + 20, p_suspect, due_from, ts, exact, prefixes, p_owner, p_except);
    due text[];
    log record;
    got record;
    ids bigint[];    -- from the log
    held text[];
    rest int;
begin
    for i in 1 .. 5 loop
        begin
            due := (:"schema"._lock_ready(p_box, candidates, cardinality(candidates), p_suspect, ts)).keys;
            exit when due is null;
            ids := '{}';
            held := '{}';
            select '{}'::bigint[] as ids, '{}'::text[] as held into got;
            if p_suspect then
                select * into got from :"schema"._head_runs(p_box, due, null, 1, true, false, ts, exact, prefixes, p_except);
            else
                select * into log from :"schema"._log_runs(p_box, due, wanted, false, 0, ts, exact, prefixes, p_except);
                ids := log.ids;
                held := coalesce(log.held, '{}');
                rest := wanted - cardinality(ids);
                if log.odd is not null and rest > 0 then
                    select * into got from :"schema"._head_runs(
                        p_box, log.odd[:rest], log.heads[:rest], greatest(rest / cardinality(log.odd), 1), false, false, ts,
                        exact, prefixes, p_except);
                end if;
            end if;
            held := held || coalesce(got.held, '{}');
            if cardinality(due) > least(wanted, cardinality(held)) then
                candidates := held[:wanted];
                raise exception using errcode = 'BX099';
            end if;
            -- Another transaction may be burying one of them, and wait for the stream that this one holds.
            if exists (select from unnest(ids) x where x <> all (array(
                           select m.work_id from :"schema".message m where m.work_id = any (ids) and m.lane = 1
                           for update skip locked))) then
                candidates := '{}';
                raise exception using errcode = 'BX099';
            end if;
            insert into :"schema".parked (work_id, box, epoch, available_at, expires_at, topic, stream)
            select m.work_id, p_box, p_epoch, ts, m.expires_at, m.topic, m.stream
            from :"schema".message m where m.work_id = any (ids);
            if ids <> '{}' then
                perform :"schema"._leave_out(p_box, ids);
            end if;
            update :"schema".parked p set epoch = p_epoch where p.work_id = any (got.ids) and p.box = p_box;
            update :"schema".stream s set available_at = null
            where s.ctid = any (:"schema"._stream_rows(p_box, held));
            return ids || got.ids;
        exception when sqlstate 'BX099' then
            exit when candidates = '{}';
        end;
    end loop;
    return '{}'::bigint[];
end $$;
