-- The epochs under which messages were taken, in the order of ids. Null for a message that was not taken, and for an id
-- that was given again.
create or replace function :"schema"._epochs_of(ids bigint[], taken bigint[], taken_epochs bigint[]) returns bigint[]
language sql immutable :pinned as $$
    select array_agg(case when i.repetition = 1 then t.epoch end order by i.n)
    from (select u.id, u.n, row_number() over (partition by u.id order by u.n) as repetition
          from unnest(ids) with ordinality u(id, n)) i
    left join unnest(taken, taken_epochs) t(id, epoch) on t.id = i.id
$$;
