-- Refuses to go on when the transaction ids in the log belong to another cluster or table: after a
-- dump and restore, a logical copy, an upgrade. adopt() is the remedy.
create or replace function :"schema"._check_identity() returns void
language plpgsql stable :pinned as $$
begin
    if not :"schema"._is_own() then
        raise exception using errcode = 'BX005',
            message = 'this store was restored or copied from another server',
            hint = 'Run boxcar init, or select :"schema".adopt() once, as the owner of the schema.';
    end if;
end $$;
