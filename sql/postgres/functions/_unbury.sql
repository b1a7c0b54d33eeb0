-- Puts messages into the parking lot, ready at once, that are nowhere else: dead letters being
-- replayed, lost messages being repaired, leftovers of a restored store. Streams that are
-- there look for their head again; a missing row is made under the turn, as only claimers otherwise do.
create or replace function :"schema"._unbury(p_box smallint, ids bigint[], keep_expiry boolean, ts timestamptz)
returns void language plpgsql volatile :pinned as $$
begin
    insert into :"schema".parked (work_id, box, available_at, expires_at, topic, stream)
    select m.work_id, p_box, greatest(m.due_at, ts), case when keep_expiry then m.expires_at end, m.topic, m.stream
    from :"schema".message m where m.work_id = any (ids) order by m.work_id;
    if not exists (select from :"schema".message m where m.work_id = any (ids) and m.stream is not null) then
        return;
    end if;
    perform :"schema"._streams_go_on(p_box, ids, ts);
    if not :"schema"._turn(p_box) then
        raise exception using errcode = '55P03', message = 'claimers are busy; try again';
    end if;
    insert into :"schema".stream (box, key, available_at)
    select distinct p_box, m.stream, ts from :"schema".message m
    where m.work_id = any (ids) and m.stream is not null
      and not exists (select from :"schema".stream s where s.box = p_box and s.key = m.stream);
end $$;
