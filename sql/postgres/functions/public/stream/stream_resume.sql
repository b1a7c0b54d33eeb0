-- Resumes a halted stream with the message after the dead letter that halted it, or with `replay` with that dead
-- letter. Returns the work id of the dead letter. BX002: there is no such stream, or the dead letter to replay is
-- gone; BX003: the stream is not halted.
create or replace function :"schema".stream_resume(stream text, replay boolean default false, box text default 'outbox',
                                                         subscription text default null)
returns bigint language plpgsql volatile security definer :hot as $$
declare
    p_box constant smallint := :"schema"._reader(subscription, :"schema"._box(box));
begin
    if stream is null then
        perform :"schema"._invalid('stream', 'is null: give the key of a stream');
    end if;
    return :"schema"._resume_halt(p_box, stream, :"schema"._halted_by(p_box, stream), coalesce(replay, false));
end $$;
