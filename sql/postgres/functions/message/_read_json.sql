-- Headers or metadata (name) as JSON. If a text is no JSON, PostgreSQL's own error would show it, and so would the
-- server's log. Without settings of its own: called often, by functions that have them.
create or replace function :"schema"._read_json(name text, texts text[]) returns jsonb[]
language plpgsql immutable as $$
begin
    return texts::pg_catalog.jsonb[];
exception when data_exception or statement_too_complex then
    perform :"schema"._invalid(name, case name when 'headers' then 'must be a JSON object whose values are strings'
                                               else 'must be a JSON object' end);
end $$;
