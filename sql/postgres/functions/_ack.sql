-- Done: what the lease held becomes finished, and counts in joins. Returns the work ids that were ours to
-- finish.
create or replace function :"schema"._ack(p_box smallint, p_owner uuid, ids bigint[], epochs bigint[])
returns bigint[] language plpgsql volatile security definer :hot as $$
declare
    ts constant timestamptz := clock_timestamp();
    wanted constant int8multirange := :"schema"._multirange(ids);
    done int8multirange;
    off_path int8multirange;
    is_step boolean;   -- as _is_step() says, in the same statement
    rest record;
begin
    perform :"schema"._sign_of_life(p_owner);
    -- The common case, whole leases of one epoch, is one statement. As in _take_epoch, no index serves the owner.
    if cardinality(epochs) = 1 and epochs[1] <> 0 then
        with taken as materialized (
            delete from :"schema".lease l
            where l.box = p_box and l.epoch = epochs[1] and l.owner is not distinct from p_owner and l.items <@ wanted
            returning l.epoch, l.items, l.has_parked),
        evidence as (
            insert into :"schema".finished (first_id, last_id, box, epoch, owner, at)
            select lower(r), upper(r) - 1, p_box, t.epoch, p_owner, ts from taken t, unnest(t.items) r),
        counted as (
            insert into :"schema".tally_delta (first_id, last_id, box)
            select lower(r), upper(r) - 1, p_box from taken t, unnest(t.items) r)
        select range_agg(r), range_agg(r) filter (where t.has_parked),
               bool_or(exists (select from :"schema".join_member m
                               where m.work_id >= lower(r) and m.work_id < upper(r) and not m.in_span and m.status = 0)
                       or exists (select from :"schema".join_span s
                                  where s.first_id > lower(r) - 1000 and s.first_id < upper(r) and s.last_id >= lower(r)))
        into done, off_path, is_step
        from taken t, unnest(t.items) r;
    end if;
    if done is distinct from wanted then
        select * into rest from :"schema"._ack_parts(p_box, p_owner, ids, epochs, ts);
        done := coalesce(done + rest.done, done, rest.done);
        off_path := coalesce(off_path + rest.off_path, off_path, rest.off_path);
        is_step := coalesce(is_step, false) or :"schema"._is_step(rest.done);
    end if;
    if off_path is not null then
        perform :"schema"._unpark(p_box, array(select i from :"schema"._ids(off_path) i), ts);
    end if;
    if is_step then
        perform :"schema"._count_steps(done, 1::smallint, ts);
    end if;
    return array(select generate_series(lower(r), upper(r) - 1) from unnest(done) r);
end $$;
