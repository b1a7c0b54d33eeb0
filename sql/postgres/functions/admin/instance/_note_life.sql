-- Notes that an owner lives, if it is registered. This never waits. Several transactions of one owner may be open, and
-- a rollback of one must not remove the signs of the others, so each writes a row that no other holds. The shared lock
-- keeps the instance from being removed while a transaction that has given a sign is open (_remove_stale). The row that
-- partitions and views show is updated less often: every third of the time after which an instance is stale.
create or replace function :"schema"._note_life(p_owner uuid) returns void
language plpgsql volatile :hot as $$
declare
    ts timestamptz := clock_timestamp();
    sign tid;
begin
    perform from :"schema".instance_row r where r.instance_id = p_owner for key share skip locked;
    if not found then
        return;
    end if;
    select s.ctid into sign from :"schema".instance_sign s where s.instance_id = p_owner
    order by s.seen_at desc limit 1 for update skip locked;
    if found then
        update :"schema".instance_sign s set seen_at = ts where s.ctid = sign;
    else
        insert into :"schema".instance_sign (instance_id, seen_at) values (p_owner, ts);
    end if;
    update :"schema".instance_row r set seen_at = ts
    where r.ctid = any (array(
        select x.ctid from :"schema".instance_row x
        where x.instance_id = p_owner
          and x.seen_at < ts - make_interval(secs => :"schema"._setting('instance_timeout', 30000) / 3000)
        for no key update skip locked));
end $$;
