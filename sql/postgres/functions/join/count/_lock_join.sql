-- Locks a join, to count so many steps in it (null: for whatever else), and says in which lane. Lane 0 is the
-- whole join, with its row and every lane: who has it may end the join. The other lanes of a large join are for
-- counting while its end is far; they hold nobody up.
create or replace function :"schema"._lock_join(p_join uuid, p_steps bigint) returns smallint
language plpgsql volatile as $$
declare
    lanes int := case when p_steps is null then 0 else coalesce((
        select j.last_lane from :"schema".join_row j where j.join_id = p_join), 0) end;
    lane smallint;
begin
    if lanes > 0 then
        begin
            lane := :"schema"._take_lane(p_join, lanes);
            if not :"schema"._may_share(p_join, p_steps) then   -- the lane is given back
                raise exception using errcode = 'BX099';
            end if;
            perform set_config('boxcar.lanes', concat_ws(',', current_setting('boxcar.lanes', true), p_join), true)
            where not :"schema"._has_lane(p_join);
            return lane;
        exception when sqlstate 'BX099' then
            null;
        end;
    end if;
    perform from :"schema".join_row j where j.join_id = p_join for no key update;
    perform :"schema"._lock_lanes(p_join);
    return 0;
end $$;
