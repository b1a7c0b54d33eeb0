-- What does not come straight from the log: parked messages and heads of streams, sharing wanted
-- between them. parked_first alternates, so that neither starves the other.
create or replace function :"schema"._claim_side(
    p_box smallint, p_epoch bigint, wanted int, parked_first boolean, with_streams boolean,
    due_from timestamptz, ts timestamptz, exact text[], prefixes text[],
    p_owner uuid)
returns bigint[] language plpgsql volatile :hot as $$
declare
    taken bigint[] := '{}';
    share int := wanted;
begin
    if wanted <= 0 then
        return taken;
    end if;
    with_streams := with_streams and :"schema"._has_due_stream(p_box, false, due_from, ts);
    if with_streams then
        share := case when parked_first then (wanted + 1) / 2 else wanted / 2 end;
    end if;
    if share > 0 then
        taken := :"schema"._claim_parked(p_box, p_epoch, share, due_from, ts, exact, prefixes);
    end if;
    if with_streams then
        taken := taken || :"schema"._claim_heads(p_box, p_epoch, wanted - cardinality(taken), false, due_from, ts,
                                                 exact, prefixes, p_owner);
        if cardinality(taken) < wanted then
            taken := taken || :"schema"._claim_parked(p_box, p_epoch, wanted - cardinality(taken), due_from,
                                                      ts, exact, prefixes);
        end if;
    end if;
    return taken;
end $$;
