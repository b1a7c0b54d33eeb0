-- The next message of a stream, for a caller that gives it up. BX002: the stream has none; BX003: one of it is in
-- progress.
create or replace function :"schema"._stream_head(p_box smallint, p_key text) returns bigint
language plpgsql stable security definer :hot as $$
declare
    head bigint;
begin
    select min(h.work_id) into head from (
        (select p.work_id from :"schema".parked p where p.box = p_box and p.stream >= p_key and p.stream <= p_key
         order by p.stream, p.work_id limit 1)
        union all
        (select m.work_id from :"schema"._fresh m where m.reader = p_box and m.stream = p_key order by m.work_id limit 1)) h;
    if exists (select from :"schema".stream s
               where s.box = p_box and s.key = p_key collate "C" and :"schema"._is_stream_leased(s)) then
        raise exception using errcode = 'BX003', message = format('a message of stream "%s" is in progress', p_key);
    end if;
    if head is null then
        raise exception using errcode = 'BX002',
            message = format('there is no stream "%s" with unfinished messages', p_key);
    end if;
    return head;
end $$;
