-- The shape of a query, without the data in it: at most 100 characters for a log or a report. A query's text can hold a
-- payload in many ways (literals, comments, a value that a user forgot to quote), and the server cuts it off anywhere.
-- Harmless looks prove nothing, so this shows only what is known to be harmless: the text ends at the first string or
-- comment, and a word stays when it is a keyword of SQL or the name of a schema, a relation or a function here. Other
-- words, and numbers, become ?.
create or replace function :"schema"._query_shape(query text) returns text
language plpgsql stable :pinned as $$
declare
    most constant int := 100;
    -- Some programs put a comment before everything else.
    bare constant text := regexp_replace(query, '^(\s*/\*([^*]|\*+[^*/])*\*+/|\s*--[^\n]*\n)+', '');
    -- A backslash stops it, too: a string in the old style may go on behind a quote that follows one.
    head constant text := substring(left(bare, 4 * most) from '^(?:[^''"$\\/-]|"[^"]*"|\$[0-9]+|/(?!\*)|-(?!-))*');
    shape text;
begin
    select string_agg(
        case when t.token ~ '^\s' then ' '
             when t.token ~ '^(\$[0-9]+|[][(),.;:*=<>+/%|!~@#&?^-])$' then t.token
             when w.word in (select k.word from pg_get_keywords() k)
                  or exists (select from pg_class c where c.relname = w.word)
                  or exists (select from pg_proc p where p.proname = w.word)
                  or exists (select from pg_namespace n where n.nspname = w.word) then w.word
             else '?' end, '' order by t.n)
    into shape
    from regexp_matches(head, '"[^"]*"|\$[0-9]+|\s+|[][(),.;:*=<>+/%|!~@#&?^-]|[^][\s"(),.;:*=<>+/%|!~@#&?^-]+', 'g')
         with ordinality m(found, n)
    cross join lateral (select m.found[1], m.n) t(token, n)
    cross join lateral (
        select case when t.token like '"%' then trim(both '"' from t.token) else lower(t.token) end) w(word);
    shape := trim(both ' ' from shape);
    if char_length(shape) > most then
        return left(shape, most) || '...';
    end if;
    return nullif(shape, '') || case when char_length(head) < char_length(bare) then ' ...' else '' end;
end $$;
