-- Streams of messages that no claimer has met yet: the first message of each and how many there are, in bounded work.
-- p_key: just that one, else those from first_key to last_key.
create or replace function :"schema"._fresh_streams(p_box smallint, p_key text, first_key text, last_key text)
returns table (stream text, head bigint, pending bigint) language plpgsql stable rows 100 :hot as $$
#variable_conflict use_column
declare
    f :"schema".frontier := :"schema"._frontier(p_box, 1::smallint);
    beyond :"schema".frontier := f;
    most constant int := 50000;
begin
    beyond.base := f.target;
    beyond.target := pg_current_snapshot();
    beyond.position_xid := '0';
    beyond.position_id := 0;
    return query
        select w.stream, min(w.work_id), count(*)
        from (select x.* from :"schema"._window(f, most) x
              union all
              select x.* from :"schema"._window(beyond, most) x) w
        where (w.stream = p_key or p_key is null and w.stream >= first_key collate "C" and w.stream <= last_key collate "C")
        group by w.stream;
end $$;
