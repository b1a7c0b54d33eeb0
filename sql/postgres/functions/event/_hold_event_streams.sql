-- Locks event streams in the order of their keys, until the transaction ends. Callers that store messages as events do this
-- before they draw work ids: so the messages of a stream are in the order of their events' versions. A name that is too long
-- is passed over: the statement that stores its message refuses it.
create or replace function :"schema"._hold_event_streams(streams text[]) returns void
language plpgsql volatile :hot as $$
#variable_conflict use_column
begin
    insert into :"schema".event_stream (stream)
    select w.stream
    from (select distinct i.stream collate "C" as stream from unnest(streams) i(stream) where char_length(i.stream) <= :stream_max) w
    where not exists (select from :"schema".event_stream s where s.stream = w.stream)
    order by w.stream
    on conflict (stream) do nothing;
    perform from :"schema".event_stream s where s.stream = any (streams) order by s.stream for no key update;
end $$;
