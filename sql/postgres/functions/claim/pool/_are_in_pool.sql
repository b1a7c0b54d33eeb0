-- Whether all these messages are still in the pool: in these rows, or among those that a claimer has put back as held.
create or replace function :"schema"._are_in_pool(p_box smallint, ids bigint[], places bigint[]) returns boolean
language plpgsql volatile as $$
begin
    return ids = '{}' or :"schema"._multirange(ids) <@ coalesce((
        select range_agg(r) from (
            select x.items from :"schema".pool x where x.box = p_box and x.place = any (places)
            union all
            select x.items from :"schema".pool x where x.box = p_box and x.holder is not null) x, unnest(x.items) r), '{}');
end $$;
