-- Open slices whose message has ended: done_at: when it was done; null: it did not end well, so the slice is due again. A dead letter
-- that was purged counts as done at -infinity (_dead_purge). A message that is gone was not done: _complete_slices notes that before
-- it goes. This looks at every open slice, and at nothing else.
create or replace function :"schema"._slice_ends()
returns table (id uuid, shard int, message_id uuid, done_at timestamptz) language plpgsql stable :hot as $$
#variable_conflict use_column
declare
    readers constant smallint[] := :"schema"._slice_readers();
begin
    return query
        select x.id, x.shard, x.message_id, nullif(f.at, '-infinity')
        from :"schema".schedule_shard x
        cross join lateral (select max(g.at) as at from unnest(readers) r, :"schema"._finished(r, x.work_id) g) f
        where x.due_at is null and x.runs
          and (f.at is not null
               or exists (select from :"schema".dead d where d.work_id = x.work_id and d.box = any (readers))
               or not exists (select from :"schema".message m where m.work_id = x.work_id));
end $$;
