-- Messages are going to be stored under ids that may derive from keys alone, as programs of version 9 derive them. From
-- now on keys are looked up under such an id too (_enqueue_messages).
create or replace function :"schema"._note_old_keys(ids uuid[]) returns void
language plpgsql volatile as $$
begin
    perform setval(':"schema".old_key_flag', 1)
    from unnest(ids) i
    where pg_sequence_last_value(':"schema".old_key_flag') is null and :"schema"._is_derived(i) limit 1;
end $$;
