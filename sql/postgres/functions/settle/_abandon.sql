-- Ends an attempt badly: the message is ready again after a delay, and one attempt is spent. delays and errors go with
-- ids by position, or hold one value for all; a delay of -1 or null is the store's backoff.
create or replace function :"schema"._abandon(
    p_box smallint, p_owner uuid, ids bigint[], epochs bigint[], delays bigint[], errors text[])
returns bigint[] language plpgsql volatile security definer :hot as $$
begin
    return :"schema"._give_back(p_box, p_owner, ids, epochs, 'abandoned', -1, delays, errors);
end $$;
