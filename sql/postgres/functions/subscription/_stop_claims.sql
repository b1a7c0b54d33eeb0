-- Waits until no claim of this subscription is under way, and keeps new ones out until this transaction ends (_is_paused).
create or replace function :"schema"._stop_claims(p_reader smallint) returns void
language plpgsql volatile :pinned set lock_timeout = '5s' as $$
begin
    execute format('lock table %s in access exclusive mode', :"schema"._own('turn', p_reader));
exception when lock_not_available then
    raise exception using errcode = '55P03', message = 'claims of this subscription are under way; try again';
end $$;
