-- A claim calls this before it takes its turn, since this may wait for locks, a little: it clears expired leases and
-- expired messages. A transaction that claims from both boxes does this for both before it takes the first turn.
--
-- A claim in a transaction that may stay open leaves them to other claims, or to the end of the transaction (_tend): no
-- claimer could get what it released before that end. But it clears what is overdue for ten seconds. alone: the
-- transaction ends with the claim.
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
