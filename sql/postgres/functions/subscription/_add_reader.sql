-- Makes a subscription: its row, its turn and sequences, and its frontier. The caller has claimed the name (_claim_name). That lock
-- also keeps messages from leaving the log meanwhile (_leave_out): it waits for transactions that took some, and fails if one of
-- them stays open. If it takes topics away from the main reader, the caller sets the rule of that one at the end (_set_rule). Returns
-- its number.
create or replace function :"schema"._add_reader(
    p_name text, p_box smallint, p_patterns text[], p_only boolean, p_start_at text, p_time timestamptz, p_max_lag_ms bigint,
    p_max_lag_count bigint)
returns smallint language plpgsql volatile :pinned as $$
declare
    n smallint;
begin
    if pg_sequence_last_value(':"schema".reader_number') = 32767 then
        raise exception using errcode = 'BX003',
            message = 'this store has had 32766 subscriptions, and numbers are never used again: start a new store';
    end if;
    n := nextval(':"schema".reader_number');
    execute format('create view :"schema".%I as select 1 as turn where false', 'turn_' || n);
    execute format('create view :"schema".%I as select 1 as turn where false', 'upkeep_' || n);
    execute format('create sequence :"schema".%I', 'claims_' || n);
    execute format('create sequence :"schema".%I minvalue 0', 'quiet_' || n);
    insert into :"schema".reader (number, name, box, patterns, "only", created_at, start_at, max_lag_ms, max_lag_count)
    values (n, p_name, p_box, p_patterns, p_only, clock_timestamp(), p_start_at, p_max_lag_ms, p_max_lag_count);
    insert into :"schema".upkeep_look (box) values (n);
    perform :"schema"._start_reader(n, p_start_at = 'end', p_time, null);
    return n;
end $$;
