-- Appends a row to the frontier of its lane and trims old rows. Every function that adds a row calls this, so that rows
-- do not pile up. Only under the turn.
create or replace function :"schema"._add_frontier(f :"schema".frontier) returns void
language plpgsql volatile as $$
begin
    insert into :"schema".frontier select f.*;
    if f.seq % 64 = 0 then
        delete from :"schema".frontier x
        where x.box = f.box and x.lane = f.lane and x.seq between f.seq - 256 and f.seq - 64;
    end if;
end $$;
