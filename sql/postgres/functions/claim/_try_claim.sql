-- For boxcar doctor: claims a message as a worker does, fills the pool, which comes past the next thousands of
-- messages, and takes everything back. Says whether the turn and every other lock came in time, after how long the turn
-- came, and what went wrong if something did. A caller cannot keep the turn with this: it is given back before the call
-- ends. Other claimers wait meanwhile, so this does no more than a claim does.
create or replace function :"schema"._try_claim(
    p_box smallint, out had_turn boolean, out seconds double precision, out failure text)
language plpgsql volatile security definer :hot set lock_timeout = '2s' as $$
declare
    began timestamptz;
begin
    perform :"schema"._before_claim(p_box);
    began := clock_timestamp();
    had_turn := :"schema"._turn(p_box, true);
    seconds := extract(epoch from clock_timestamp() - began);
    if had_turn then
        perform :"schema"._claim_items(p_box, gen_random_uuid(), interval '1 second', 1, null, null, true, null, true,
                                       64 << 20);
        perform :"schema"._refill(p_box, 1);
    end if;
    raise exception using errcode = 'BX099';
exception
    when sqlstate 'BX099' then
        null;
    when lock_not_available then
        had_turn := false;
    when others then
        failure := sqlerrm;
end $$;
