-- Done: messages that the lease held become finished, and count in joins. Returns the work ids that this owner could
-- finish.
create or replace function :"schema"._ack(p_box smallint, p_owner uuid, ids bigint[], epochs bigint[])
returns bigint[] language plpgsql volatile security definer :hot as $$
declare
    ts timestamptz := clock_timestamp();
    wanted int8multirange;
    done int8multirange;
    off_path int8multirange;   -- of done: parked ones, and those of streams
    off_epochs bigint[] := epochs;
    is_step boolean := false;   -- as _is_step() says
    is_parked boolean;
    rest record;
begin
    wanted := case when cardinality(ids) = 1 and ids[1] between 1 and 9223372036854775806
                   then int8multirange(int8range(ids[1], ids[1] + 1)) else :"schema"._multirange(ids) end;
    -- One run of ids that is a whole lease, as most are. With many connections each statement costs, and each node of a
    -- plan: so there are few, and the given ids are returned. The run has no gap and as many ids as numbers, so none
    -- comes twice.
    if wanted @> int8range(lower(wanted), upper(wanted)) and upper(wanted) - lower(wanted) = cardinality(ids)
       and cardinality(epochs) = 1 and epochs[1] <> 0 then
        if p_box < 2 and pg_sequence_last_value(':"schema".member_flag') is not null then   -- joins follow the main readers
            is_step := exists (select from :"schema".join_member m
                               where m.work_id >= lower(wanted) and m.work_id < upper(wanted) and not m.in_span and m.status = 0)
                       or exists (select from :"schema".join_span s
                                  where s.first_id > lower(wanted) - 1000 and s.first_id < upper(wanted) and s.last_id >= lower(wanted));
        end if;
        delete from :"schema".lease l
        where l.box = p_box and l.epoch = epochs[1] and l.owner is not distinct from p_owner and l.items = wanted
        returning l.has_parked into is_parked;
        if found then
            with counted as (
                insert into :"schema".tally_delta (first_id, last_id, box) values (lower(wanted), upper(wanted) - 1, p_box))
            insert into :"schema".finished (first_id, last_id, box, epoch, owner, at)
            values (lower(wanted), upper(wanted) - 1, p_box, epochs[1], p_owner, ts);
            -- The claim was a sign of life, at the time that the epoch tells. For half a second that is enough (_remove_stale).
            if (date_part('epoch', ts) * 1000000 - epochs[1] between -64 and 500000) is not true then
                perform :"schema"._sign_of_life(p_owner);
            end if;
            if is_parked then
                perform :"schema"._unpark(p_box, ids, epochs, ts);
            end if;
            if is_step then
                perform :"schema"._count_steps(wanted, 1::smallint, ts);
            end if;
            return ids;
        end if;
        is_step := false;
    end if;
    perform :"schema"._sign_of_life(p_owner);
    if p_box > 1 then
        perform :"schema"._log_box(p_box);   -- there is such a reader
    end if;
    -- Whole leases of one epoch take one statement too. As in _take_epoch, no index serves the owner.
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
               p_box < 2 and bool_or(exists (select from :"schema".join_member m
                               where m.work_id >= lower(r) and m.work_id < upper(r) and not m.in_span and m.status = 0)
                       or exists (select from :"schema".join_span s
                                  where s.first_id > lower(r) - 1000 and s.first_id < upper(r) and s.last_id >= lower(r)))
        into done, off_path, is_step
        from taken t, unnest(t.items) r;
    end if;
    if done is distinct from wanted then
        -- They may be parts of several leases.
        with taken as materialized (select * from :"schema"._take(p_box, p_owner, ids, epochs)),
        evidence as (
            insert into :"schema".finished (first_id, last_id, box, epoch, owner, at)
            select lower(r), upper(r) - 1, p_box, t.epoch, p_owner, ts from taken t, unnest(t.items) r),
        counted as (
            insert into :"schema".tally_delta (first_id, last_id, box)
            select lower(r), upper(r) - 1, p_box from taken t, unnest(t.items) r)
        select range_agg(r) as done, range_agg(r) filter (where t.has_parked) as off_path,
               array_agg(distinct t.epoch) filter (where t.has_parked) as off_epochs
        into rest from taken t, unnest(t.items) r;
        done := coalesce(done + rest.done, done, rest.done);
        off_path := coalesce(off_path + rest.off_path, off_path, rest.off_path);
        off_epochs := epochs || rest.off_epochs;
        is_step := coalesce(is_step, false) or p_box < 2 and :"schema"._is_step(rest.done);
    end if;
    if off_path is not null then
        perform :"schema"._unpark(p_box, array(select i from :"schema"._ids(off_path) i), off_epochs, ts);
    end if;
    if is_step then
        perform :"schema"._count_steps(done, 1::smallint, ts);
    end if;
    return array(select generate_series(lower(r), upper(r) - 1) from unnest(done) r);
end $$;
