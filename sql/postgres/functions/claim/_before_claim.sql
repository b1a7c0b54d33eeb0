-- What a claim does before its turn, since it may wait for locks, a little: expired leases and expired messages are dealt
-- with. A transaction that claims from both boxes does this for both before it takes the first turn.
--
-- One that may go on for longer leaves them to others, or to its end (_leave_pool): what it released would be nobody's until
-- then. Only if nobody comes for ten seconds, it does that too. alone: it ends with the claim.
create or replace function :"schema"._before_claim(p_box smallint, alone boolean default false) returns void
language plpgsql volatile as $$
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception using errcode = 'BX004',
            message = 'claim works under READ COMMITTED only, not ' || current_setting('transaction_isolation'),
            hint = 'Begin the transaction with BEGIN ISOLATION LEVEL READ COMMITTED.';
    end if;
    perform :"schema"._clear_expired(p_box, case when alone or :"schema"._is_single() then interval '0'
                                                 else interval '10 seconds' end);
end $$;
