-- A call names this owner: it lives (BX-061). Called by every such function, so it asks no table twice within half a
-- second of a session: what was noted last is kept in a variable of the session, which a rollback takes back together
-- with the note.
create or replace function :"schema"._sign_of_life(p_owner uuid) returns void
language plpgsql volatile as $$
declare
    moment text := concat(:'schema', '.', p_owner, '.', (extract(epoch from clock_timestamp()) * 2)::bigint);
begin
    if current_setting('boxcar.sign_of_life', true) is distinct from moment then
        perform set_config('boxcar.sign_of_life', moment, false);
        perform :"schema"._note_life(p_owner);
    end if;
end $$;
