-- Lets a halted stream go on: behind the dead letter that halted it, or with `replay` with that one. Returns its work
-- id. BX002: no such stream, or no such dead letter any more; BX003: it is not halted.
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
