-- Done: what the lease held becomes finished, and counts in joins. Returns the work ids that were ours to
-- finish.
create or replace function :"schema"._ack(p_box smallint, p_owner uuid, ids bigint[], epochs bigint[])
returns bigint[] language plpgsql volatile security definer :hot as $$
declare
    ts timestamptz;
    wanted int8multirange;
    done int8multirange;
    off_path int8multirange;   -- of done: parked ones, and those of streams
    off_epochs bigint[] := epochs;
    is_step boolean;   -- as _is_step() says, in the same statement
    is_parked boolean;
    more boolean;   -- a step of a join, or an instance that has to give a sign of life
    rest record;
begin
    wanted := case when cardinality(ids) = 1 and ids[1] between 1 and 9223372036854775806
                   then int8multirange(int8range(ids[1], ids[1] + 1)) else :"schema"._multirange(ids) end;
    -- One run of ids that is a whole lease, which most are. With many connections each statement costs, and each expression:
    -- so there is one statement, and what was given is what is returned. No gap and as many ids as numbers: none comes twice.
    if wanted @> int8range(lower(wanted), upper(wanted)) and upper(wanted) - lower(wanted) = cardinality(ids)
       and cardinality(epochs) = 1 and epochs[1] <> 0 then
        with taken as materialized (
            delete from :"schema".lease l
            where l.box = p_box and l.epoch = epochs[1] and l.owner is not distinct from p_owner and l.items = wanted
            returning l.has_parked),
        evidence as (
            insert into :"schema".finished (first_id, last_id, box, epoch, owner, at)
            select lower(wanted), upper(wanted) - 1, p_box, epochs[1], p_owner, clock_timestamp() from taken),
        counted as (
            insert into :"schema".tally_delta (first_id, last_id, box) select lower(wanted), upper(wanted) - 1, p_box from taken)
        select t.has_parked,
               exists (select from :"schema".join_member m
                       where m.work_id >= lower(wanted) and m.work_id < upper(wanted) and not m.in_span and m.status = 0)
               or exists (select from :"schema".join_span s
                          where s.first_id > lower(wanted) - 1000 and s.first_id < upper(wanted) and s.last_id >= lower(wanted))
               or exists (select from :"schema".instance_row r where r.instance_id = p_owner and not exists (
                              select from :"schema".instance_sign s
                              where s.instance_id = p_owner and s.seen_at > clock_timestamp() - interval '500 milliseconds'))
        into is_parked, more
        from taken t;
        if not is_parked and not more then
            return ids;
        end if;
    end if;
    ts := clock_timestamp();
    perform :"schema"._sign_of_life(p_owner);
    -- Whole leases of one epoch are one statement too. As in _take_epoch, no index serves the owner.
    if more is not null then
        done := wanted;
        off_path := case when is_parked then wanted end;
        is_step := :"schema"._is_step(wanted);
    elsif cardinality(epochs) = 1 and epochs[1] <> 0 then
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
        off_epochs := epochs || rest.off_epochs;
        is_step := coalesce(is_step, false) or :"schema"._is_step(rest.done);
    end if;
    if off_path is not null then
        perform :"schema"._unpark(
            p_box, case when more is not null then ids else array(select i from :"schema"._ids(off_path) i) end, off_epochs, ts);
    end if;
    if is_step then
        perform :"schema"._count_steps(done, 1::smallint, ts);
    end if;
    if more is not null then
        return ids;
    end if;
    return array(select generate_series(lower(r), upper(r) - 1) from unnest(done) r);
end $$;
