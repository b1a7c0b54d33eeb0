-- A small step of the removal of what removed subscriptions knew. The row of a subscription goes last, when no call that began before its
-- removal can add anything. While a transaction makes or removes a subscription, this waits for another round. Returns how many rows
-- went.
create or replace function :"schema"._forget_readers(most int) returns bigint
language plpgsql volatile :hot as $$
declare
    n smallint;
    ids bigint[];
    total bigint := 0;
    step bigint;      -- of this subscription
    removed bigint;
begin
    begin
        lock table :"schema".reader in row share mode nowait;
    exception when lock_not_available then
        return 0;
    end;
    for n in select r.number from :"schema".reader r where r.removed_at is not null order by r.number for update skip locked loop
        with gone as (
            delete from :"schema".parked p
            where p.box = n and p.work_id = any (array(select x.work_id from :"schema".parked x where x.box = n limit most))
            returning p.work_id),
        dead as (
            delete from :"schema".dead d
            where d.box = n and d.work_id = any (array(select x.work_id from :"schema".dead x where x.box = n limit most))
            returning d.work_id),
        done as (
            delete from :"schema".finished f
            where f.box = n and f.first_id = any (array(select x.first_id from :"schema".finished x where x.box = n limit most))
            returning f.first_id, f.last_id)
        select array_agg(i) into ids from (
            select g.work_id as i from gone g union all select d.work_id from dead d
            union all select generate_series(f.first_id, f.last_id) from done f) x;
        delete from :"schema".attempt a where a.work_id = any (ids) and a.reader = n;
        step := coalesce(cardinality(ids), 0);
        delete from :"schema".pool p where p.ctid = any (array(select x.ctid from :"schema".pool x where x.box = n limit most));
        get diagnostics removed = row_count;
        step := step + removed;
        delete from :"schema".stream s where s.ctid = any (array(select x.ctid from :"schema".stream x where x.box = n limit most));
        get diagnostics removed = row_count;
        step := step + removed;
        delete from :"schema".reader_skip k where k.ctid = any (array(select x.ctid from :"schema".reader_skip x where x.box = n limit most));
        get diagnostics removed = row_count;
        step := step + removed;
        delete from :"schema".tally_delta d
        where d.ctid = any (array(select x.ctid from :"schema".tally_delta x where x.box = n limit most for update skip locked));
        get diagnostics removed = row_count;
        step := step + removed;
        total := total + step;
        delete from :"schema".stream_note s where s.box = n;
        delete from :"schema".stream_violation v where v.box = n;
        delete from :"schema".tally t where t.box = n;
        delete from :"schema".lease l where l.box = n;
        delete from :"schema".upkeep_look x where x.box = n;
        delete from :"schema".reader_rewind x where x.number = n;
        if step = 0 and not exists (select from :"schema".tally_delta d where d.box = n) then
            delete from :"schema".reader r where r.number = n and r.removed_at < clock_timestamp() - interval '1 minute';
        end if;
    end loop;
    return total;
end $$;
