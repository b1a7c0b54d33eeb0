-- Leases heads of streams, as _claim_heads does, for a claim inside somebody's transaction, which may stay open for long: without
-- the turn, so it takes only what somebody else has sorted in, and changes no stream from which it takes nothing. Those
-- must not stay locked either: if there are any, all locks are given back and only the others are locked again.
create or replace function :"schema"._heads_inside(
    p_box smallint, p_epoch bigint, wanted int, p_suspect boolean, due_from timestamptz, ts timestamptz,
    exact text[], prefixes text[], p_owner uuid, p_waits text, p_named boolean)
returns bigint[] language plpgsql volatile :hot as $$
declare
    -- More than wanted: some of them may have nothing for him.
    candidates text[] := :"schema"._ready_streams(p_box, wanted + 20, p_suspect, due_from, ts, exact, prefixes, p_owner,
                                                  case when not p_named then p_waits end);
    due text[];
    got record;
begin
    for i in 1 .. 5 loop
        begin
            due := :"schema"._lock_ready(p_box, candidates, p_suspect, ts);
            exit when due = '{}';
            select * into got from :"schema"._head_runs(
                p_box, due, case when p_suspect then 1 else greatest(wanted / cardinality(due), 1) end, p_suspect, false, ts,
                exact, prefixes, p_waits, p_named);
            if cardinality(due) > least(wanted, coalesce(cardinality(got.held), 0)) then
                candidates := got.held[:wanted];
                raise exception using errcode = 'BX099';
            end if;
            update :"schema".parked p set epoch = p_epoch where p.work_id = any (got.ids);
            update :"schema".stream s set available_at = null where s.ctid = any (:"schema"._stream_rows(p_box, got.held));
            return got.ids;
        exception when sqlstate 'BX099' then
            exit when candidates is null;
        end;
    end loop;
    return '{}';
end $$;
