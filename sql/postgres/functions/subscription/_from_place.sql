-- Of these messages, those from a place on: stored at that time or later, or with at least that work id; both null: all.
create or replace function :"schema"._from_place(items int8multirange, from_time timestamptz, from_id bigint) returns int8multirange
language plpgsql stable as $$
begin
    if from_time is null then
        return items * int8multirange(int8range(from_id, null));
    end if;
    return coalesce((
        select range_agg(int8range(m.work_id, m.work_id + 1)) from unnest(items) r
        join :"schema".message m on m.work_id >= lower(r) and m.work_id < upper(r) and m.created_at >= from_time), '{}');
end $$;
