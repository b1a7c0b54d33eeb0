-- Gives up the next message of a stream: it becomes a dead letter, and the stream goes on after it. Returns its work
-- id. A halted stream is only resumed. BX002: the stream has no message; BX003: a message of it is in progress. If the
-- answer is lost, do not simply repeat this call: it would give up one message more. (The library first looks which
-- message is next, and then names it.)
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
