-- Where the rows of these streams are, in the same order. For a caller that has locked them in an earlier statement: it
-- changes a row where it is, and no plan made while there were no streams can look through all of them for the row.
create or replace function :"schema"._stream_rows(p_box smallint, keys text[]) returns tid[]
language plpgsql stable as $$
begin
    return array(
        select s.ctid from unnest(keys) with ordinality k(key, n) cross join lateral (
            select s.ctid from :"schema".stream s where s.box = p_box and s.key = k.key limit 1) s
        order by k.n);
end $$;
