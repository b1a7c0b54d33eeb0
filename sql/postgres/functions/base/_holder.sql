-- For which reader a transaction has locked messages; null: that is not known (_note_holder).
create or replace function :"schema"._holder(x xid8) returns smallint
language plpgsql volatile as $$
declare
    note constant bigint := pg_sequence_last_value(format('%I.%I', :'schema', 'holder_' || x::text::bigint % 16)::regclass);
begin
    return case when note >> 16 = x::text::bigint then note & 65535 end;
end $$;
