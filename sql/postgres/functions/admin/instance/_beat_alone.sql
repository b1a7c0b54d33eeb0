-- A heartbeat without a claim: updates the registration of this owner. An owner that is not known is registered in both
-- boxes, without topics: only a claim or a list of topics names those.
create or replace function :"schema"._beat_alone(p_owner uuid, p_host text, p_pid bigint, p_concurrency int) returns void
language plpgsql volatile security definer :hot as $$
#variable_conflict use_column
declare
    known smallint[] := array(select r.box from :"schema".instance_row r where r.instance_id = p_owner);
begin
    perform :"schema"._register(p_owner, b.box, p_host, p_pid, p_concurrency, coalesce(r.exact, '{}'),
                                coalesce(r.prefixes, '{}'))
    from (values (0::smallint), (1::smallint)) b(box)
    left join lateral (
        select r.exact, r.prefixes from :"schema".instance_row r where r.instance_id = p_owner and r.box = b.box limit 1) r
        on true
    where known = '{}' or b.box = any (known);
end $$;
