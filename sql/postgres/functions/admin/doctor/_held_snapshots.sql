-- _snapshot_holders for programs of version 10.
create or replace function :"schema"._held_snapshots(max_rows int)
returns table (kind text, pid int, name text, state text, seconds double precision, xids bigint)
language sql stable :pinned as $$
    select h.kind, h.pid, h.name, h.state, h.seconds, h.xids from :"schema"._snapshot_holders(max_rows) h
$$;
