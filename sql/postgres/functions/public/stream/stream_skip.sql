-- Gives up on the next message of a stream: it becomes a dead letter, and the stream goes on behind it. Returns its work
-- id. A halted stream is resumed instead.
create or replace function :"schema".stream_skip(stream text, box text default 'outbox')
returns bigint language plpgsql volatile security definer :pinned as $$
begin
    if stream is null then
        perform :"schema"._invalid('stream', 'is null: give the key of a stream');
    end if;
    return :"schema"._stream_skip(:"schema"._box(box), stream);
end $$;
