-- _bury_expired for callers that have other things to do, as _try_expire_leases. A message that cannot be buried must
-- not stop all others: then each is buried by itself.
create or replace function :"schema"._try_bury_expired(p_box smallint, max_messages int)
returns bigint language plpgsql volatile :hot set lock_timeout = '100ms' as $$
begin
    return :"schema"._bury_expired(p_box, max_messages);
exception
    when lock_not_available then
        return 0;
    when serialization_failure or deadlock_detected then
        raise;
    when others then
        return :"schema"._bury_each_expired(p_box, least(max_messages, 100));
end $$;
