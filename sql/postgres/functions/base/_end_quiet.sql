-- Something has become ready that is not in the pool: the next claim looks for it (_is_quiet).
create or replace function :"schema"._end_quiet(p_box smallint) returns void language plpgsql volatile :pinned as $$
declare
    mark constant regclass := case p_box when 0 then ':"schema".outbox_quiet'::regclass
        when 1 then ':"schema".inbox_quiet'::regclass else :"schema"._own('quiet', p_box) end;
    last bigint;
begin
    if pg_sequence_last_value(mark) > 0 then
        last := setval(mark, 0);
    end if;
end $$;
