-- Gives up the next message of a stream: it becomes a dead letter, and the stream goes on behind it. Returns its work
-- id. A halted stream is resumed instead. BX002: it has none; BX003: one of it is in progress. The library takes the
-- same steps one by one: to repeat this call gives up one message more.
create or replace function :"schema".stream_skip(stream text, box text default 'outbox',
                                                         subscription text default null)
returns bigint language plpgsql volatile security definer :hot as $$
declare
    p_box constant smallint := :"schema"._reader(subscription, :"schema"._box(box));
    killer bigint;
begin
    if stream is null then
        perform :"schema"._invalid('stream', 'is null: give the key of a stream');
    end if;
    killer := :"schema"._halted_by(p_box, stream);
    if killer is not null then
        return :"schema"._resume_halt(p_box, stream, killer, false);
    end if;
    return :"schema"._cancel(p_box, :"schema"._stream_head(p_box, stream), null);
end $$;
