-- _before_claim for both boxes. The library calls it before it claims from both in a transaction of its user.
create or replace function :"schema"._before_claims() returns void
language plpgsql volatile security definer :hot as $$
begin
    perform :"schema"._before_claim(0::smallint);
    perform :"schema"._before_claim(1::smallint);
end $$;
