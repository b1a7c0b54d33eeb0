-- Replays the chosen dead letters: they are ready again as if new, and on record (BX-004). Returns how many. A dead
-- letter whose unique key a newer message has taken stays dead: an error if it was named, else it is passed over.
create or replace function :"schema"._dead_replay(p_box smallint, ids bigint[], note text, named boolean default true)
returns bigint language plpgsql volatile :pinned as $$
declare
    ts timestamptz;
    risen bigint[];
    errors text[];
begin
    ids := :"schema"._replayable(ids, named);
    with locked as (
        select d.work_id from :"schema".dead d where d.box = p_box and d.work_id = any (ids)
        order by d.work_id for update),
    gone as (
        delete from :"schema".dead d using locked l where d.work_id = l.work_id returning d.work_id, d.last_error)
    select array_agg(g.work_id), array_agg(g.last_error) into risen, errors from gone g;
    if risen is null then
        return 0;
    end if;
    ts := clock_timestamp();   -- not before the death that is undone
    insert into :"schema".attempt (work_id, at, retry_count, outcome, error)
    select i, ts, 0, 'replayed', :"schema"._cap_error(note) from unnest(risen) i;
    perform :"schema"._unbury(p_box, risen, false, ts);
    update :"schema".parked p set last_error = i.error from unnest(risen, errors) i(id, error)
    where p.work_id = i.id;
    return cardinality(risen);
end $$;
