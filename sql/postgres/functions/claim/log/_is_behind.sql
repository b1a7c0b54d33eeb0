-- Has the frontier passed this message? The opposite of fresh.
create or replace function :"schema"._is_behind(f :"schema".frontier, xid xid8, work_id bigint) returns boolean
language sql immutable as $$
    select pg_visible_in_snapshot(xid, f.base)
        or (pg_visible_in_snapshot(xid, f.target) and (xid, work_id) <= (f.position_xid, f.position_id))
$$;
