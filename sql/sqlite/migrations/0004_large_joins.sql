-- Outcomes of members that end together, without rewriting each of them.

-- What became of members: a row for each run of neighbouring work ids that are all members of the join and ended
-- together. Runs of a join never overlap. Whoever counts looks here and nowhere else. The member's own row says it
-- as well for those reported by hand or counted by a program of version 3; and alone while there is no message.
create table boxcar_join_outcome (
    join_id blob not null,
    first_id integer not null,
    last_id integer not null,
    status integer not null,
    primary key (join_id, first_id)
) without rowid;

-- What open joins have counted so far. In those that have ended nobody counts any more, and the rows of their members
-- say enough.
insert into boxcar_join_outcome (join_id, first_id, last_id, status)
select join_id, min(work_id), max(work_id), status
from (select m.join_id, m.work_id, m.status,
             m.work_id - row_number() over (partition by m.join_id, m.status order by m.work_id) as run
      from boxcar_join j join boxcar_join_member m on m.join_id = j.join_id
      where j.status = 0 and m.status <> 0 and m.work_id is not null)
group by join_id, status, run;

-- A member that is reported by hand is marked in its row. So is every member that a program of version 3 counts, which
-- may work beside newer ones. What has its outcome already is passed over, so that it counts once.
create trigger boxcar_join_member_on_count before update of status on boxcar_join_member
when old.status = 0 and new.status <> 0 and old.work_id is not null
begin
    select raise(ignore)
    where (select o.last_id from boxcar_join_outcome o where o.join_id = old.join_id and o.first_id <= old.work_id
           order by o.first_id desc limit 1) >= old.work_id;
    insert into boxcar_join_outcome (join_id, first_id, last_id, status)
    values (old.join_id, old.work_id, old.work_id, new.status);
end;
-- The message has come of a member that was reported by hand.
create trigger boxcar_join_member_on_known after update of work_id on boxcar_join_member
when old.work_id is null and new.work_id is not null and new.status <> 0
begin
    insert into boxcar_join_outcome (join_id, first_id, last_id, status)
    values (new.join_id, new.work_id, new.work_id, new.status);
end;
-- Programs of version 3 remove joins with their members only.
create trigger boxcar_join_on_delete after delete on boxcar_join
begin
    delete from boxcar_join_outcome where join_id = old.join_id;
end;
