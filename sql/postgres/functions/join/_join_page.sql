-- A page of joins, newest first, by the index that fits the conditions. p_message: only joins that it is a member of.
-- p_after: older than this one; BX002 if there is no such join. Indexes give the order: sorting would read all joins of
-- a key or a status first.
create or replace function :"schema"._join_page(
    p_grouping text, p_status smallint, p_before timestamptz, p_after uuid, max_joins int,
    p_message uuid default null)
returns setof :"schema".outbox_join language plpgsql stable security definer :hot
set enable_sort = off set enable_bitmapscan = off as $$
declare
    upto timestamptz := coalesce(p_before, 'infinity');
    upto_id uuid := '00000000-0000-0000-0000-000000000000'::uuid;
    last_at timestamptz;
    ids uuid[];
begin
    perform :"schema"._check_most('max_joins', max_joins);
    if p_after is not null then
        select j.created_at into last_at from :"schema".join_row j where j.join_id = p_after;
        if not found then
            raise exception using errcode = 'BX002', message = 'there is no join ' || p_after;
        end if;
        if last_at < upto then
            upto := last_at;
            upto_id := p_after;
        end if;
    end if;
    if p_message is not null then   -- few, so they are sorted
        select array_agg(x.join_id order by x.created_at desc, x.join_id desc) into ids
        from (select j.join_id, j.created_at, row_number() over (order by j.created_at desc, j.join_id desc) as n
              from :"schema".join_member m cross join lateral (
                  select * from :"schema".join_row j where j.join_id = m.join_id limit 1) j
              where m.message_id = p_message and (p_status is null or j.status = p_status)
                and (p_grouping is null or j.grouping_key = p_grouping collate "C")
                and (j.created_at, j.join_id) < (upto, upto_id)) x
        where x.n <= max_joins;
    elsif p_grouping is not null then
        ids := array(
            select j.join_id from :"schema".join_row j
            where j.grouping_key = p_grouping collate "C" and (p_status is null or j.status = p_status)
              and (j.created_at, j.join_id) < (upto, upto_id)
            order by j.created_at desc, j.join_id desc limit max_joins);
    elsif p_status is not null then
        ids := array(
            select j.join_id from :"schema".join_row j
            where j.status = p_status and (j.created_at, j.join_id) < (upto, upto_id)
            order by j.created_at desc, j.join_id desc limit max_joins);
    else
        ids := array(
            select j.join_id from :"schema".join_row j
            where (j.created_at, j.join_id) < (upto, upto_id)
            order by j.created_at desc, j.join_id desc limit max_joins);
    end if;
    return query
        select v.* from unnest(ids) with ordinality i(id, n) cross join lateral (
            select * from :"schema".outbox_join v where v.join_id = i.id limit 1) v
        order by i.n;
end $$;
