-- Does for streams what claims inside a transaction leave undone: sorts new messages in, and looks at streams whose
-- head is not known. It wants no topic, so it leases nothing. Only under the turn.
create or replace function :"schema"._tend_streams(p_box smallint, due_from timestamptz) returns void
language plpgsql volatile as $$
declare
    ts constant timestamptz := clock_timestamp();
begin
    if :"schema"._come_past_streams(p_box, ts, 1000) then
        perform :"schema"._claim_heads(p_box, 0, 100, false, due_from, ts, '{}', '{}', null, null, true);
    end if;
end $$;
