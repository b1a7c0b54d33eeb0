-- The store must have `wanted` partitions: a store that never had a message in a stream takes the number over, any
-- other one refuses another number (_set).
create or replace function :"schema"._want_partitions(wanted int) returns void
language plpgsql volatile security definer :pinned as $$
begin
    if (wanted between 1 and :partition_count_max) is not true then
        perform :"schema"._invalid('partition_count', 'must be a whole number from 1 to :partition_count_max');
    end if;
    if wanted <> :"schema"._setting('partition_count', 10000) then
        perform :"schema"._set('partition_count', wanted::double precision);
    end if;
end $$;
