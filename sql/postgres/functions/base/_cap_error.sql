-- The part of an error text that is kept: at most :error_text_max bytes, cut between characters (BX-010).
create or replace function :"schema"._cap_error(error text) returns text
language plpgsql immutable :pinned as $$
declare
    cut text := error;
begin
    while octet_length(cut) > :error_text_max loop
        cut := left(cut, least(length(cut) - 1, length(cut) - (octet_length(cut) - :error_text_max) / 4));
    end loop;
    return cut;
end $$;
