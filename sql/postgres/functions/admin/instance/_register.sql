-- Notes that an instance lives and serves a box, whether it is known or was removed meanwhile. Topics are sorted:
-- instances that handle the same ones share partitions. Null: as before, none at first. This never waits: a transaction
-- that holds the row, or is making it, also says that the instance lives.
create or replace function :"schema"._register(
    p_instance uuid, p_box smallint, p_host text, p_pid bigint, p_concurrency int, p_exact text[], p_prefixes text[])
returns void language plpgsql volatile security definer :hot as $$
declare
    ts timestamptz := clock_timestamp();
    sorted_exact text[] := case when p_exact is not null then array(select t from unnest(p_exact) t order by t) end;
    sorted_prefixes text[] := case when p_exact is not null then array(select t from unnest(p_prefixes) t order by t) end;
begin
    perform :"schema"._check_instance(p_instance, p_box, p_host, p_pid, p_concurrency, p_exact, p_prefixes);
    if p_box > 1 then
        perform :"schema"._log_box(p_box);   -- there is such a reader
    end if;
    if pg_sequence_last_value(':"schema".instance_flag') is null then   -- before any transaction can see the instance
        perform setval(':"schema".instance_flag', 1);
    end if;
    perform :"schema"._sign_of_life(p_instance);   -- in the other box as well
    update :"schema".instance_row r
    set host = p_host, pid = p_pid, concurrency = p_concurrency, seen_at = ts,
        exact = coalesce(sorted_exact, r.exact), prefixes = coalesce(sorted_prefixes, r.prefixes)
    where r.ctid = any (array(
        select x.ctid from :"schema".instance_row x where x.instance_id = p_instance and x.box = p_box
        for no key update skip locked));
    if found then
        return;
    end if;
    if exists (select from :"schema".instance_row r where r.instance_id = p_instance and r.box = p_box) then
        perform :"schema"._note_life(p_instance);
        return;
    end if;
    perform :"schema"._register_new(p_instance, p_box, p_host, p_pid, p_concurrency, coalesce(sorted_exact, '{}'),
                                    coalesce(sorted_prefixes, '{}'), ts);
end $$;
