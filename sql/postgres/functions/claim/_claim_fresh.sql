-- Takes messages that no claimer has met or wanted yet: from the pool, and when the pool has too few, from the log
-- under the turn. has_turn, f, ts: of the caller; they change when this takes the turn. moved: f has a new position.
-- flags as in _claim_numbered.
create or replace function :"schema"._claim_fresh(
    inout f :"schema".frontier, inout has_turn boolean, alone boolean, wanted int, inout ts timestamptz, exact text[],
    prefixes text[], p_waits text, p_named boolean,
    out items int8multirange, out total int, out flags int, out moved boolean)
language plpgsql volatile as $$
declare
    topics constant text[] := case when exact is not null or prefixes is not null
                                   then :"schema"._pool_topics(f.box, exact, prefixes) end;
    part int8multirange;
    n int;
    met int;
    turn boolean;   -- null: not needed any more
    parked boolean := false;
    log record;
begin
    flags := 0;
    moved := false;
    if not alone and not has_turn then
        items := :"schema"._claim_inside(f, wanted, exact, prefixes, topics, p_waits);
        total := (select coalesce(sum(upper(r) - lower(r)), 0) from unnest(items) r);
        return;
    end if;
    if exists (select from :"schema".pool p where p.box = f.box and p.holder is not null) then
        parked := :"schema"._free_pool(f.box);
    end if;
    items := '{}';
    total := 0;
    -- More than once only if another claimer has filled the pool meanwhile, or another transaction has locked what was
    -- found.
    for i in 1 .. 5 loop
        select p.taken, p.total into part, n from :"schema"._take_pooled(f.box, wanted - total, topics, f.pool_from) p;
        if n > 0 then
            met := n;
            select p.items, p.total into part, n from :"schema"._leave_held(f.box, part, n) p;
            items := items + part;
            total := total + n;
            if n < met and total < wanted then   -- some are held; there may be more
                perform :"schema"._set_aside(f.box, array(
                    select p.place from :"schema"._pool_rows(f.box, topics, f.pool_from, 20) p));
                flags := 2;   -- unless something is found now: call again
                continue;
            end if;
        end if;
        exit when total >= wanted;
        if not has_turn then
            -- A claim that finds nothing takes no turn: other claimers may want it. f was read before the pool:
            -- messages that a claimer has put there since are beyond f.
            if not :"schema"._is_any_beyond(f) then
                flags := 0;
                exit;
            end if;
            if total > 0 then   -- a claim that has something does not wait
                has_turn := :"schema"._turn(f.box, false);
                exit when not has_turn;
            else
                turn := :"schema"._turn_unless_pooled(f.box, topics, f.pool_from, i < 3);
                continue when turn is null;
                has_turn := turn;
                if not has_turn then
                    flags := 4;
                    exit;
                end if;
            end if;
            ts := clock_timestamp();   -- now that the turn has come
            f := :"schema"._frontier(f.box, 0::smallint);
        end if;
        select * into log from :"schema"._come_past(f, wanted - total, ts, exact, prefixes, p_waits, p_named, 0);
        moved := moved or log.moved;
        f := log.f;
        flags := log.parked_expired::int + 2 * log.more::int;
        exit when log.taken = '{}';
        select p.items, p.total into part, n
        from :"schema"._leave_held(f.box, :"schema"._multirange(log.taken), cardinality(log.taken)) p;
        items := items + part;
        total := total + n;
        exit when total > 0;
    end loop;
    if parked then   -- unless something is found now: call again
        flags := flags | 2;
    end if;
end $$;
