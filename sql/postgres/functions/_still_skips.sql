-- What a frontier says about messages that were buried ahead of it: nothing any more, once claimers came past all of them.
create or replace function :"schema"._still_skips(skip int8multirange) returns int8multirange
language plpgsql stable as $$
begin
    if skip <> '{}' and not exists (select from :"schema".frontier_skip) then
        return '{}';
    end if;
    return skip;
end $$;
