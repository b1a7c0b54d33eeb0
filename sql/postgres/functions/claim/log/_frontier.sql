-- The newest frontier row of a lane. A bound ahead of the clock, or a full look more than a minute ahead, was written
-- before the clock was set back. Then no bound counts: otherwise parked work would wait until the clock is there again.
-- Called often, so it has no settings of its own; the order leaves no choice of index.
create or replace function :"schema"._frontier(p_box smallint, p_lane smallint) returns :"schema".frontier
language plpgsql stable as $$
declare
    f :"schema".frontier;
begin
    select * into f from :"schema".frontier x where x.box = p_box and x.lane = p_lane
    order by x.box desc, x.lane desc, x.seq desc limit 1;
    if not found then
        if p_box > 1 then
            perform :"schema"._no_reader(p_box::text);
        end if;
        perform :"schema"._invalid(case when p_box in (0, 1) then 'lane' else 'box' end, 'must be 0 or 1');
    end if;
    if greatest(f.lease_from, f.due_from, f.expiring_from, f.expired_from, f.look_at - interval '1 minute')
       > clock_timestamp() then
        f.lease_from := '-infinity';
        f.due_from := '-infinity';
        f.expiring_from := '-infinity';
        f.expired_from := '-infinity';
        f.look_at := '-infinity';
    end if;
    return f;
end $$;
