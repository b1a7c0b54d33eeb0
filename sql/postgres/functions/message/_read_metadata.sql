-- As _read_headers, for metadata.
create or replace function :"schema"._read_metadata(metadata text[]) returns jsonb[]
language plpgsql immutable as $$
begin
    return metadata::pg_catalog.jsonb[];
exception when data_exception or statement_too_complex then
    perform :"schema"._invalid('metadata', 'must be a JSON object');
end $$;
