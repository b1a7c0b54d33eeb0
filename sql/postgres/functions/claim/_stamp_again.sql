-- A claim has drawn another epoch: the parked messages and streams that it has locked and stamped get that one.
create or replace function :"schema"._stamp_again(p_box smallint, ids bigint[], drawn bigint, later bigint) returns void
language plpgsql volatile as $$
begin
    update :"schema".parked p set epoch = later where p.work_id = any (ids) and p.epoch = drawn;
    update :"schema".stream s set epoch = later
    where s.ctid = any (:"schema"._stream_rows(p_box, array(
              select distinct m.stream from :"schema".message m where m.work_id = any (ids) and m.stream is not null)))
      and s.epoch = drawn;
end $$;
