-- Waits until no claim of this subscription is under way, and keeps new ones out until this transaction ends (_is_paused). Keeps
-- out upkeep of its box as well, which would forget the same messages.
create or replace function :"schema"._stop_claims(p_reader smallint, p_log smallint) returns void
language plpgsql volatile :pinned set lock_timeout = '5s' as $$
begin
    if p_log = 0 then
        lock table :"schema".outbox_upkeep in share update exclusive mode;
    else
        lock table :"schema".inbox_upkeep in share update exclusive mode;
    end if;
    execute format('lock table %s in access exclusive mode', :"schema"._own('turn', p_reader));
exception when lock_not_available then
    raise exception using errcode = '55P03', message = 'claims of this subscription, or upkeep, are under way; try again';
end $$;
