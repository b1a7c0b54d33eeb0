-- Runs of done messages of the inbox are about to be removed. Returns the starts of those that may go; their keys
-- remember that they were done. A run stays for another time if another transaction holds the key of one of its
-- messages.
create or replace function :"schema"._end_runs(firsts bigint[], lasts bigint[]) returns bigint[]
language plpgsql volatile :hot as $$
declare
    busy bigint[] := :"schema"._busy_keys(array(
        select generate_series(r.first_id, r.last_id) from unnest(firsts, lasts) r(first_id, last_id)));
    free bigint[] := array(
        select r.first_id from unnest(firsts, lasts) r(first_id, last_id)
        where not exists (select from unnest(busy) b where b between r.first_id and r.last_id));
begin
    perform :"schema"._end_keys(array(
        select generate_series(r.first_id, r.last_id) from unnest(firsts, lasts) r(first_id, last_id)
        where r.first_id = any (free)));
    return free;
end $$;
