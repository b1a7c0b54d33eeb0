-- Sorts what was enqueued into streams lately, so that whoever looks at streams sees it. Never inside somebody's
-- transaction: the turn would be his until its end.
create or replace function :"schema"._sort_now(p_box smallint) returns void
language plpgsql volatile security definer :hot as $$
begin
    if current_setting('transaction_isolation') <> 'read committed' or pg_is_in_recovery()
       or not :"schema"._turn(p_box) then
        return;
    end if;
    for i in 1 .. 20 loop
        exit when :"schema"._sort_streams(p_box, clock_timestamp());
    end loop;
end $$;
