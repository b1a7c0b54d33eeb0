-- Lets a halted stream go on: behind the dead letter that halted it, or with replay with that one. Returns its work id.
create or replace function :"schema".stream_resume(stream text, replay boolean default false, box text default 'outbox')
returns bigint language plpgsql volatile security definer :pinned as $$
begin
    if stream is null then
        perform :"schema"._invalid('stream', 'is null: give the key of a stream');
    end if;
    return :"schema"._stream_resume(:"schema"._box(box), stream, coalesce(replay, false));
end $$;
