-- Leases what streams, which the caller has locked, have for him where not all is plain: some messages are parked, expired, not due
-- or unwanted. Parked ones may lie between those in the log, so it goes from one to the other and back. What is known of a stream that has
-- nothing for him is noted in its row, and one without messages is forgotten. Only under the turn.
create or replace function :"schema"._claim_mixed_heads(
    p_box smallint, p_epoch bigint, due text[], wanted int, ts timestamptz, exact text[], prefixes text[], p_waits text,
    p_named boolean)
returns bigint[] language plpgsql volatile :hot as $$
declare
    log record;
    got record;
    room int;
    taken bigint[] := '{}'::bigint[];
begin
    for i in 1 .. 10 loop
        log := :"schema"._log_runs(p_box, due, wanted - cardinality(taken), true, p_epoch, ts, exact, prefixes, p_waits, p_named);
        taken := taken || log.ids;
        if log.held is not null then
            perform :"schema"._hold_runs(p_box, log.held, log.lasts, p_epoch);
        end if;
        if log.expired is not null then
            perform :"schema"._park_expired(p_box, log.expired, ts);
        end if;
        if i = 1 and log.waiting is not null then
            perform :"schema"._put_off_streams(p_box, log.waiting, log.until, null, log.topics);
        end if;
        if i = 1 and log.empty is not null then
            perform :"schema"._forget_streams(p_box, log.empty, ts);
        end if;
        due := coalesce(log.held, '{}');
        room := wanted - cardinality(taken);
        if log.odd is not null and room > 0 then
            got := :"schema"._claim_odd_heads(p_box, p_epoch, log.odd[:room], log.heads[:room], greatest(room / cardinality(log.odd), 1), false,
                                         i = 1, ts, exact, prefixes, p_waits, p_named);
            taken := taken || got.ids;
            due := due || coalesce(got.held, '{}');
        end if;
        exit when due = '{}' or cardinality(taken) >= wanted;
    end loop;
    return taken;
end $$;
