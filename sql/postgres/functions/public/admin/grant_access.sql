-- Grants a role the rights that it needs and no more: producer (enqueue and joins), worker (claim and settle as well),
-- viewer (read, without payloads), admin (everything that functions and views offer). Only the schema's owner can
-- grant.
create or replace function :"schema".grant_access(role_name name, access text) returns void
language plpgsql volatile :pinned as $$
declare
    doctor constant text[] := array['_stats', '_checkup', '_live_hosts', '_live_patterns', '_ready_topics',
        '_held_snapshots', '_snapshot_holders', '_table_health', '_claim_blockers', '_stream_holders', '_locked_streams',
        '_session', '_query_shape', '_upkeep', '_subscriptions', '_subscription_list'];
    viewer constant text[] := doctor || array['_store_info', '_page', '_dead_page', '_attempts', '_settings',
        '_join_find', '_join_page', '_join_members', 'message_joins', '_inbox_find', '_stages', '_stream_page', '_stream_rules', '_stream_violations', '_instances', '_sort_now',
        '_ids', '_spent', '_sees_owners', '_veil', '_derive_id', '_subscriptions', '_subscription_list', '_delivery_attempts', '_schedules', '_schedule_slices'];   -- these: views run functions with the reader's rights
    producer constant text[] := array['_store_info', 'enqueue', 'enqueue_many', '_enqueue', '_enqueue_messages', '_enqueue_plain', '_enqueue_known', '_enqueue_one', '_hold_keys', 'join_start', 'join_attach',
        'join_attach_many', 'join_report_completed', 'join_report_failed', 'join_wait', 'join_cancel', '_join_start',
        '_attach', '_join_report', '_join_cancel', '_join_wait', '_join_find', '_join_page', '_join_members', 'message_joins',
        'inbox_enqueue', 'inbox_enqueue_many', 'inbox_already_processed', 'inbox_accept', '_inbox_enqueue', '_inbox_enqueue_plain', '_inbox_enqueue_one', '_inbox_look',
        '_inbox_accept', '_inbox_find',
        'event_append', 'event_append_many', 'event_read', 'event_read_all', '_event_append', '_event_read_all'];
    worker constant text[] := producer || doctor || array['outbox_claim', 'outbox_ack', 'outbox_abandon',
        'outbox_defer', 'outbox_fail', 'outbox_renew', 'outbox_reap', '_claim', '_ack', '_ack_run', '_abandon', '_defer', '_fail', '_renew',
        '_claim_numbered', '_claim_own', '_returned', '_work_ids', '_want_partitions', '_give_back_claim', '_before_claims', '_try_claim', '_reap', '_bury_expired', '_was_settled', '_maintain', '_readers', '_check_reader', '_expire_fresh', '_settings', '_stats',
        '_sequence_events', '_heartbeat', '_farewell', '_fall_asleep', '_get_up', '_is_drained',
        '_resolve', '_lock_ahead', '_lock_ahead_of', '_lock_joins', '_joins_ended', 'inbox_claim', 'inbox_ack', 'inbox_abandon', 'inbox_defer',
        'inbox_fail', 'inbox_renew', 'inbox_reap', '_register', '_beat_alone', '_remove_stale', '_evaluate_due_waits', '_record_stages', '_stages',
        'process_work_batch', 'outbox_work_ids', 'inbox_work_ids', 'outbox_record_stages', 'inbox_record_stages', '_instances', '_stream_page', '_stream_violations', '_sort_now',
        'schedule_plan', 'schedule_complete', '_schedules', '_schedule_slices'];
    wanted text[] := case access when 'viewer' then viewer when 'producer' then producer when 'worker' then worker end;
    item record;
begin
    if coalesce(access, '') not in ('producer', 'worker', 'viewer', 'admin') then
        perform :"schema"._invalid('access', 'must be producer, worker, viewer or admin');
    end if;
    if not pg_has_role((select n.nspowner from pg_namespace n where n.nspname = :'schema'), 'usage') then
        raise exception using errcode = '42501', message = 'only the owner of the schema can grant access';
    end if;
    execute format('grant usage on schema :"schema" to %I', role_name);
    for item in select p.oid::regprocedure as signature from pg_proc p join pg_namespace n on n.oid = p.pronamespace
                where n.nspname = :'schema' and (p.proname = any (wanted) or access = 'admin')
    loop
        execute format('grant execute on function %s to %I', item.signature, role_name);
    end loop;
    if access in ('viewer', 'admin') then
        for item in select c.table_name, string_agg(quote_ident(c.column_name), ', ') as columns
                    from information_schema.columns c
                    where c.table_schema = :'schema' and c.table_name in ('outbox', 'inbox', 'dead_letter', 'instance', 'outbox_join',
                                                                                'outbox_join_member', 'inbox_receipt', 'event', 'stream_state', 'subscription', 'delivery', 'fanout',
                                                                                'schedule', 'schedule_slice')
                      and (c.column_name <> 'payload' or access = 'admin')
                    group by c.table_name
        loop
            execute format('grant select (%s) on :"schema".%I to %I', item.columns, item.table_name, role_name);
        end loop;
    end if;
end $$;
