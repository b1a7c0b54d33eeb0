-- A call names this owner: it lives (BX-061). Every function that names an owner calls this, so most calls only look,
-- and write nothing: a sign is noted at most twice a second. An uncommitted sign of another session does not count,
-- since it may be rolled back.
create or replace function :"schema"._sign_of_life(p_owner uuid) returns void
language plpgsql volatile as $$
begin
    if exists (select from :"schema".instance_row r where r.instance_id = p_owner and not exists (
            select from :"schema".instance_sign s
            where s.instance_id = p_owner and s.seen_at > clock_timestamp() - interval '500 milliseconds')) then
        perform :"schema"._note_life(p_owner);
    end if;
end $$;
