-- _expire_leases for callers that have other things to do. If an open transaction is in the way, nothing happens now:
-- it holds a stream, or a join in which a message that has used up its attempts would count. A message that cannot be
-- released or buried must not stop all others: then each is released by itself.
create or replace function :"schema"._try_expire_leases(p_box smallint, from_time timestamptz, max_leases int)
returns bigint language plpgsql volatile :hot set lock_timeout = '100ms' as $$
begin
    return :"schema"._expire_leases(p_box, from_time, max_leases);
exception
    when lock_not_available then
        return 0;
    when serialization_failure or deadlock_detected then
        raise;
    when others then
        return :"schema"._release_each_expired(p_box, from_time, least(max_leases, 20));
end $$;
