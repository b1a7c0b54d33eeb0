-- Does for streams what claims inside a transaction leave undone: sorts new messages in, and looks at streams of whose head
-- nothing is known, for nobody: no topic is wanted, so nothing is leased. Only under the turn.
create or replace function :"schema"._tend_streams(p_box smallint, due_from timestamptz) returns void
language plpgsql volatile as $$
declare
    ts constant timestamptz := clock_timestamp();
begin
    if :"schema"._sort_streams(p_box, ts) then
        perform :"schema"._claim_heads(p_box, 0, 100, false, due_from, ts, '{}', '{}', null, null, true, true);
    end if;
end $$;
