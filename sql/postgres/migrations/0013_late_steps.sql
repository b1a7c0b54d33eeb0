-- Steps that were not counted when their messages ended, because another transaction held the join (_count_later): a row for
-- each run of neighbouring work ids. The next one that has the join counts them and removes the rows (_settle_joins). Adding a
-- row waits for nobody, so no step depends on who held what at that moment.
create table :"schema".late_step (
    join_id uuid not null,
    step_no bigint not null generated always as identity,   -- the order in which they ended
    first_id bigint not null,
    last_id bigint not null,
    outcome smallint not null,   -- 1 completed, 2 failed
    primary key (join_id, step_no))
    with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- It takes the outcome too.
drop function if exists :"schema"._count_later(int8multirange, uuid[], timestamptz);
