-- Remembers what a reader wants from a frontier on (_wants).
create or replace function :"schema"._note_rule(f :"schema".frontier) returns void
language plpgsql volatile :hot as $$
begin
    insert into :"schema".reader_change (number, lane, step, era, base, target, position_xid, position_id, exact, prefixes, but_exact,
                                         but_prefixes, from_time, from_id)
    select f.box, f.lane, coalesce(max(x.step), 0) + 1, f.era, f.base, f.target, f.position_xid, f.position_id, f.in_exact, f.in_prefixes,
           f.but_exact, f.but_prefixes, f.from_time, f.from_id
    from :"schema".reader_change x where x.number = f.box and x.lane = f.lane;
end $$;
