-- The window that follows that of f: from its target to this one. Nothing of it was met yet.
create or replace function :"schema"._next_window(f :"schema".frontier, target pg_snapshot) returns :"schema".frontier
language plpgsql immutable as $$
begin
    f.base := f.target;
    f.target := _next_window.target;
    f.position_xid := '0';
    f.position_id := 0;
    return f;
end $$;
