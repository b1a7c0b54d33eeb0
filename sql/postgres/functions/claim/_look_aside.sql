-- Whether there is something for a claim outside of the pool and the log: suspects, and others (parked messages, heads
-- of streams, and waits if the claimer names their topic). Most claims find neither. (An order leaves no choice of
-- index, not even to a plan that was made while the table was empty.)
create or replace function :"schema"._look_aside(
    p_box smallint, due_from timestamptz, ts timestamptz, p_suspects boolean, with_streams boolean, p_waits text, p_named boolean,
    out suspects boolean, out others boolean)
language plpgsql stable as $$
begin
    select p_suspects and (coalesce((
               select true from :"schema".parked p
               where p.box = p_box and p.epoch is null and p.stream is null and p.crash_count > 0
                 and p.available_at >= due_from and p.available_at <= ts
               order by p.box, p.available_at limit 1), false)
               or with_streams and :"schema"._has_due_stream(p_box, true, due_from, ts)),
           coalesce((
               select true from :"schema".parked p
               where p.box = p_box and p.epoch is null and p.stream is null and p.crash_count = 0
                 and p.available_at >= due_from and p.available_at <= ts
               order by p.box, p.available_at limit 1), false)
               or with_streams and :"schema"._has_due_stream(p_box, false, due_from, ts)
               or p_named and coalesce((   -- a minute more than due_from, which does not know of waits
                   select true from :"schema".parked p
                   where p.box = p_box and p.epoch is null and p.stream is null and p.crash_count < 0
                     and p.topic = p_waits collate "C" and p.available_at >= due_from - interval '1 minute'
                     and p.available_at <= ts
                   order by p.topic, p.available_at limit 1), false)
    into suspects, others;
end $$;
