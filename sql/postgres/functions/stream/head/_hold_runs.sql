-- Streams that the caller has locked and from which he takes messages of the log, up to `lasts`. Only under the turn.
create or replace function :"schema"._hold_runs(p_box smallint, keys text[], lasts bigint[], p_epoch bigint) returns void
language plpgsql volatile as $$
begin
    update :"schema".stream s
    set available_at = null, position = r.last_id, epoch = p_epoch,
        taken_from = case when s.epoch = p_epoch then s.taken_from else s.position end   -- it may be the second run of this claim
    from unnest(:"schema"._stream_rows(p_box, keys), lasts) r(place, last_id) where s.ctid = r.place;
end $$;
