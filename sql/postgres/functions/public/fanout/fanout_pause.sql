-- Nothing more is forwarded to any destination of a policy. To pause twice is fine.
create or replace function :"schema".fanout_pause(name text) returns void
language plpgsql volatile security definer :pinned set lock_timeout = '10s' as $$
begin
    update :"schema".reader r set paused_at = coalesce(r.paused_at, clock_timestamp()) from :"schema"._hold_policy(fanout_pause.name) p
    where r.number = p.number;
end $$;
