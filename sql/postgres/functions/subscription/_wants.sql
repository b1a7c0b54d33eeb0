-- Was this message for this reader when its claimers came past it, or will it be? The last change whose frontier the message had not
-- passed decides (reader_change). What lies before all of them is not for a subscription; a main reader has no changes as long as
-- no subscription takes topics away from it.
create or replace function :"schema"._wants(
    p_reader smallint, p_lane smallint, p_era smallint, p_xid xid8, p_topic text, p_created_at timestamptz, p_work_id bigint)
returns boolean language plpgsql stable :hot as $$
declare
    c :"schema".reader_change;
begin
    select x.* into c from :"schema".reader_change x
    where x.number = p_reader and x.lane = p_lane and (x.era < p_era or x.era = p_era
          and not (pg_visible_in_snapshot(p_xid, x.base) or pg_visible_in_snapshot(p_xid, x.target)
                   and (p_xid, p_work_id) <= (x.position_xid, x.position_id)))
    order by x.step desc limit 1;
    if not found then
        return p_reader < 2;
    end if;
    return :"schema"._reads(true, c.exact, c.prefixes, c.but_exact, c.but_prefixes, c.from_time, c.from_id, p_topic, p_created_at,
                            p_work_id);
end $$;
