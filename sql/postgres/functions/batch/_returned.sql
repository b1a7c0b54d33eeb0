-- The messages that an owner holds in a box, for requests of the library; only_these: of these alone, null = all.
-- Messages whose lease is over are left out: a claim of the same request may release them.
create or replace function :"schema"._returned(p_box smallint, p_owner uuid, only_these bigint[])
returns setof :"schema".claimed_message language plpgsql volatile security definer :hot as $$
begin
    perform :"schema"._check_settle(p_owner, '{}', null);
    if p_box > 1 then
        perform :"schema"._log_box(p_box);   -- there is such a reader
    end if;
    perform :"schema"._sign_of_life(p_owner);
    return query select * from unnest(:"schema"._owned_work(p_box, p_owner, '{}', only_these)) w
        where w.locked_until > clock_timestamp();
end $$;
