-- Facts for an operator (boxcar doctor) that only the store's own tables have, in bounded work: counting stops at
-- max_rows. overdue: messages of leases that expired longer ago than any claimer would leave them.
create or replace function :"schema"._checkup(
    p_box smallint, overdue_after interval, lately interval, max_rows int,
    out schema_version int, out oldest_program int, out functions_digest text, out is_own boolean,
    out overdue bigint, out overdue_seconds double precision, out died_lately bigint, out halted bigint,
    out violations bigint)
language plpgsql stable security definer :hot as $$
declare
    ts timestamptz := clock_timestamp();
begin
    perform :"schema"._check_span('overdue_after', overdue_after);
    perform :"schema"._check_span('lately', lately);
    perform :"schema"._check_most('max_rows', max_rows);
    select s.schema_version, s.oldest_program, s.functions_digest, :"schema"._is_own()
    into schema_version, oldest_program, functions_digest, is_own from :"schema".store s;
    select coalesce(sum(upper(r.ids) - lower(r.ids)), 0), coalesce(extract(epoch from ts - min(l.until)), 0)
    into overdue, overdue_seconds
    from (select l.until, l.items from :"schema".lease l
          where l.box = p_box and l.until < ts - overdue_after order by l.until limit max_rows) l
    cross join lateral unnest(l.items) as r(ids);
    select count(*) into died_lately
    from (select from :"schema".dead d where d.box = p_box and d.died_at > ts - lately limit max_rows) d;
    select count(*) into halted
    from (select from :"schema".stream s where s.box = p_box and s.halted_at is not null limit max_rows) s;
    select count(*) into violations
    from (select from :"schema".stream_violation v where v.box = p_box limit max_rows) v;
end $$;
