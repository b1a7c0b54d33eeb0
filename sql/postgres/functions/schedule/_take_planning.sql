-- Takes, keeps or checks the lease of the planner, and returns its fence; 0: another one has it, or is planning now. The fence rises
-- whenever the lease goes to another owner. This waits for nobody. BX003: the fence is not that of the lease.
create or replace function :"schema"._take_planning(p_owner uuid, p_lease interval, p_fence bigint) returns bigint
language plpgsql volatile :pinned as $$
declare
    p :"schema".schedule_planner;
    ts timestamptz;
begin
    select * into p from :"schema".schedule_planner x for update skip locked;
    if not found then
        return 0;
    end if;
    ts := clock_timestamp();
    if p_fence > 0 and (p_fence <> p.fence or p_owner is distinct from p.owner) then
        raise exception using errcode = 'BX003', message = format('the fence %s is not that of the planners'' lease any more', p_fence);
    elsif p.owner is distinct from p_owner then
        if p.until > ts then
            return 0;
        end if;
        p.fence := p.fence + 1;
    end if;
    update :"schema".schedule_planner x set owner = p_owner, until = ts + p_lease, fence = p.fence;
    return p.fence;
end $$;
