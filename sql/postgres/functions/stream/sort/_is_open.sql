-- May heads of streams be handed out? The window is met in whole, or at least all its messages that may be late
-- (_come_past_streams).
create or replace function :"schema"._is_open(f :"schema".frontier) returns boolean
language plpgsql immutable as $$
begin
    return f.whole or coalesce(f.position_xid >= f.base_fence, false);
end $$;
