-- _claim_numbered with a limit of its own for the bytes of payload that it brings. The limit travels as a setting of the
-- transaction, which _claim_items reads: so the functions between them keep their arguments.
create or replace function :"schema"._claim_within(
    p_box smallint, p_owner uuid, lease interval, wanted int, exact text[], prefixes text[], durable boolean,
    suspects boolean, p_number bigint, has_waited boolean, max_bytes bigint)
returns setof :"schema".claimed_message language plpgsql volatile security definer :hot as $$
begin
    if (max_bytes between 1024 and 1 << 30) is not true then
        perform :"schema"._invalid('batch_bytes', 'is out of range: give 1024 to 1073741824');
    end if;
    perform set_config('boxcar.claim_bytes', max_bytes::text, true);
    return query select * from :"schema"._claim_numbered(p_box, p_owner, lease, wanted, exact, prefixes, durable, suspects,
                                                         p_number, has_waited);
    perform set_config('boxcar.claim_bytes', '', true);
end $$;
