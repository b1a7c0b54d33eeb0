-- The evidence that a reader has done a message: one row, or none.
create or replace function :"schema"._finished(p_box smallint, p_work_id bigint) returns setof :"schema".finished
language sql stable rows 1 as $$
    select * from (
        select * from :"schema".finished f where f.box = p_box and f.first_id <= p_work_id order by f.first_id desc limit 1) f
    where f.last_id >= p_work_id
$$;
