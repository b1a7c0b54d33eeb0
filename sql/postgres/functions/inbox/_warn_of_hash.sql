-- Warns callers of SQL that a message came again with another hash. Never fatal: the first one stays.
create or replace function :"schema"._warn_of_hash(source text, id text) returns void
language plpgsql volatile :pinned as $$
begin
    raise warning using errcode = '01BX1',
        message = format('message %s from %s came with another content hash than before', id, source);
end $$;
