-- Finished messages leave the parking lot, and their streams go on.
create or replace function :"schema"._unpark(p_box smallint, ids bigint[], ts timestamptz)
returns void language plpgsql volatile :hot as $$
begin
    delete from :"schema".parked p where p.work_id = any (ids);
    perform :"schema"._streams_go_on(p_box, ids, ts);
end $$;
