-- A worker is about to wait for its topics, for at most `nap`; with p_listen this session also listens. Both take
-- effect with the commit. A transaction that enqueues afterwards notifies, and the worker must look once more for
-- messages from before. This removes naps that are over, and those that began before the clock was set back. It passes
-- over naps that another transaction is removing.
create or replace function :"schema"._fall_asleep(
    p_instance uuid, p_box smallint, p_exact text[], p_prefixes text[], nap interval, p_listen boolean)
returns void language plpgsql volatile security definer :hot as $$
declare
    ts timestamptz := clock_timestamp();
    log smallint := p_box;
begin
    perform :"schema"._check_instance(p_instance, p_box, '', 0, 1, p_exact, p_prefixes);
    perform :"schema"._fault('', case
        when p_exact is null or p_prefixes is null then array['topics', 'is null']
        when nap is null or nap not between interval '0' and interval '1 minute'
            then array['nap', 'is out of range: give 0 to 1 minute'] end);
    if p_box > 1 then   -- producers know the box of their messages, and nothing of subscriptions
        log := :"schema"._log_box(p_box);
    end if;
    perform set_config('synchronous_commit', 'off', true);
    if p_listen then
        execute format('listen %I', :"schema"._channel());
    end if;
    with over as materialized (
        select s.ctid as row from :"schema".sleeper s where s.until <= ts or s.until > ts + nap + interval '1 minute'
        order by s.until limit 100 for update skip locked)
    delete from :"schema".sleeper s using over o where s.ctid = o.row;
    insert into :"schema".sleeper (until, instance_id, box, exact, prefixes)
    values (ts + nap, p_instance, log, p_exact, p_prefixes);
    perform setval(':"schema".sleeper_flag', (
        select ((extract(epoch from max(s.until))::bigint - 1577836800 + 1) << 32)
             | bit_or(:"schema"._topic_bits(s.exact, s.prefixes))
        from :"schema".sleeper s where s.until > ts));
end $$;
