-- The claim: the part that may wait for locks comes before the turn (_before_claim), the rest under it (_claim_items).
--
-- A trailing row with work_id 0 has flags in its epoch (it is absent when there is nothing to say): 1 = expired
-- messages were parked, call _bury_expired; 2 = nothing found yet but the log goes on, call again; 4 = the turn did not
-- come in time, so the claim did not look at fresh messages.
--
-- suspects false: hand out no suspect. The claimer is trying one already, and if that one kills it, no other should be
-- charged.
-- durable false: the commit need not reach the disk. The library claims in this way: a claim that is lost in a crash is
-- as good as one that was never made, since epochs follow the clock and are not given out twice. Such a claim waits for
-- no lock longer than two seconds. Then it fails and gives the turn back; if it waited on, the library would stop
-- listening and leave a session behind that keeps the turn. Other claims wait for the end of its transaction. So
-- durable false is ignored if the transaction began some time ago, or has written something (which might not reach the
-- disk): then the claim is as durable as any. (A driver that sends a statement in parts begins its transaction a little
-- before it.) If the transaction stays open all the same, the server ends it, unless the caller forbids that: after
-- five seconds without a statement, and since version 17 after two minutes of anything.
-- p_number: chosen by the claimer. If the answer does not reach the claimer, it can give back the messages
-- (_give_back_claim).
-- durable true: the claim may be one of several things in its transaction, which may stay open for long
-- (_claim_inside).
-- A subscription that is paused brings nothing.
-- has_waited: the caller has called _before_claims. max_bytes: of payload, headers and metadata that a claim brings,
-- give or take a message.
create or replace function :"schema"._claim_numbered(
    p_box smallint, p_owner uuid, lease interval, wanted int, exact text[], prefixes text[], durable boolean,
    suspects boolean, p_number bigint, has_waited boolean, max_bytes bigint default 64 << 20)
returns setof :"schema".claimed_message language plpgsql volatile security definer :hot as $$
declare
    setting text;   -- not needed; an assignment costs less than a statement
    got record;
    note :"schema".claimed_message;
begin
    if (max_bytes between :batch_bytes_min and :batch_bytes_max) is not true then
        perform :"schema"._invalid('batch_bytes', 'is out of range: give :batch_bytes_min to :batch_bytes_max');
    end if;
    if p_box > 1 and :"schema"._is_paused(p_box) then
        return;
    end if;
    durable := coalesce(durable, true) or pg_current_xact_id_if_assigned() is not null
        or clock_timestamp() >= transaction_timestamp() + interval '50 milliseconds';
    if not durable then
        setting := set_config('synchronous_commit', 'off', true) || set_config('lock_timeout', '2s', true)
            || set_config('idle_in_transaction_session_timeout', '5s', true);
        if lease between interval ':lease_ms_min milliseconds' and interval ':lease_hours_max hours'
           and wanted between 1 and :batch_size_max
           and p_owner <> '00000000-0000-0000-0000-000000000000' then
            got := :"schema"._claim_at_once(p_box, p_owner, lease, wanted, exact, prefixes, p_number, max_bytes);
            if wanted = 1 and got.items is not null then
                note := got.message;
                return next note;
                return;
            elsif upper(got.items) - lower(got.items) = wanted then   -- as _claimed_rows does, but one run of ids in one statement
                return query
                    select m.work_id, got.epoch, m.message_id, case m.box when 0 then 'outbox' else 'inbox' end, m.topic::text,
                           m.payload, 'in_progress', m.created_at, m.due_at, null::timestamptz, m.expires_at, null::text,
                           m.correlation_id, m.headers, 0, 0, m.max_attempts, null::text, p_owner, got.until,
                           null::timestamptz, null::text, 1, case when m.event_type is null then 1 else 3 end, m.source::text,
                           m.external_id::text, m.causation_id, m.event_type::text, m.metadata
                    from :"schema".message m where m.work_id >= lower(got.items) and m.work_id < upper(got.items)
                    order by m.work_id;
                return;
            elsif got.items is not null then
                return query select * from :"schema"._claimed_rows(p_box, got.items, false, got.epoch, p_owner, got.until);
                return;
            end if;
        end if;
    end if;
    if not durable and current_setting('transaction_timeout', true) = '0' then
        perform set_config('transaction_timeout', '2min', true);
    end if;
    perform :"schema"._sign_of_life(p_owner);
    if not has_waited then
        perform :"schema"._before_claim(p_box, not durable);
    end if;
    got := :"schema"._claim_items(p_box, p_owner, lease, wanted, exact, prefixes, suspects, p_number, not durable,
                                    max_bytes);
    if got.items is not null then
        return query select * from :"schema"._claimed_rows(p_box, got.items, got.has_parked, got.epoch, p_owner, got.until);
    end if;
    if got.flags > 0 then
        note.work_id := 0;
        note.epoch := got.flags;
        return next note;
    end if;
end $$;
