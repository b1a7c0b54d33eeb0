-- Claims messages that do not come straight from the log: parked messages and heads of streams, which share `wanted`.
-- Waits come first, if the claimer names their topic (p_waits, else null). parked_first alternates, so that neither kind
-- starves the other.
create or replace function :"schema"._claim_side(
    p_box smallint, p_epoch bigint, wanted int, parked_first boolean, with_streams boolean,
    due_from timestamptz, ts timestamptz, exact text[], prefixes text[],
    p_owner uuid, p_waits text, p_except text, has_turn boolean)
returns bigint[] language plpgsql volatile :hot as $$
declare
    taken bigint[] := '{}'::bigint[];
    waits bigint[] := '{}'::bigint[];
    share int;
begin
    if p_waits is not null and wanted > 0 then
        -- A minute more than due_from, which does not know of waits.
        waits := :"schema"._claim_parked(p_box, p_epoch, greatest(wanted / 2, 1), due_from - interval '1 minute', ts, exact,
                                         prefixes, p_waits);
        wanted := wanted - cardinality(waits);
    end if;
    if wanted <= 0 then
        return waits;
    end if;
    share := wanted;
    with_streams := with_streams and :"schema"._has_due_stream(p_box, false, due_from, ts);
    if with_streams then
        share := case when parked_first then (wanted + 1) / 2 else wanted / 2 end;
    end if;
    if share > 0 then
        taken := :"schema"._claim_parked(p_box, p_epoch, share, due_from, ts, exact, prefixes, null);
    end if;
    if with_streams then
        taken := taken || :"schema"._claim_heads(p_box, p_epoch, wanted - cardinality(taken), false, due_from, ts,
                                                 exact, prefixes, p_owner, p_except, has_turn);
        if cardinality(taken) < wanted then
            taken := taken || :"schema"._claim_parked(p_box, p_epoch, wanted - cardinality(taken), due_from,
                                                      ts, exact, prefixes, null);
        end if;
    end if;
    return waits || taken;
end $$;
