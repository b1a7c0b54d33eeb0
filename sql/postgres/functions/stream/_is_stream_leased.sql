-- Whether a lease holds a message of a stream: a parked one, or one that came straight from the log.
create or replace function :"schema"._is_stream_leased(s :"schema".stream) returns boolean
language plpgsql stable as $$
declare
    log constant smallint := case when s.box < 2 then s.box else :"schema"._log_box(s.box) end;
begin
    return exists (
            select from :"schema".parked x where x.box = s.box and x.stream = s.key and x.epoch is not null limit 1)
        or s.epoch is not null and s.position > s.taken_from and exists (
            select from (select l.items from :"schema".lease l where l.box = s.box and l.epoch = s.epoch offset 0) l
            where exists (
                select from :"schema".message m
                where m.box = log and m.lane = 1 and m.stream = s.key
                  and m.work_id > s.taken_from and m.work_id <= s.position and l.items @> m.work_id));
end $$;
