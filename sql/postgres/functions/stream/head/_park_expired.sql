-- Messages in the log that have expired and that a claimer met in streams that he has locked: they are parked, where
-- _bury_expired finds them. Only under the turn.
create or replace function :"schema"._park_expired(p_box smallint, ids bigint[], ts timestamptz) returns void
language plpgsql volatile :hot as $$
begin
    perform set_config('boxcar.met_expired', 'yes', true);   -- _claim_items tells its caller
    insert into :"schema".parked (work_id, box, available_at, expires_at, topic, stream)
    select m.work_id, p_box, ts, m.expires_at, m.topic, m.stream from :"schema".message m where m.work_id = any (ids);
    update :"schema".stream s set position = m.work_id, taken_from = case when s.epoch is null then m.work_id else s.taken_from end
    from (select m.stream, max(m.work_id) as work_id from :"schema".message m where m.work_id = any (ids) group by m.stream) m
    where s.box = p_box and s.key = m.stream and s.position < m.work_id;
end $$;
