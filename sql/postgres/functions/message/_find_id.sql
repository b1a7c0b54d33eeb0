-- The work id of a message named by either id, or null. (limit 1: by the index of that id, not by those that begin
-- with the box.)
create or replace function :"schema"._find_id(p_box smallint, p_work_id bigint, p_message_id uuid) returns bigint
language plpgsql stable :hot as $$
begin
    if p_message_id is not null then
        return (select m.work_id from (
                    select m.work_id, m.box from :"schema".message m where m.message_id = p_message_id limit 1) m
                where m.box = case when p_box < 2 then p_box else :"schema"._log_box(p_box) end);
    end if;
    return (select m.work_id from (
                select m.work_id, m.box from :"schema".message m where m.work_id = p_work_id limit 1) m
            where m.box = case when p_box < 2 then p_box else :"schema"._log_box(p_box) end);
end $$;
