-- For _at_end: whether its transaction ends now. SET CONSTRAINTS calls deferred triggers earlier. What they then did
-- for others, and to the pool, would stay locked until the end. p_noted_at: when the note was written that called the
-- trigger.
--
-- Mostly the statement is a COMMIT and nothing else. If not, this writes a note on trial: PostgreSQL calls its trigger
-- at once if constraints are immediate. At the end they are not, since _at_end defers its own constraint again. SET
-- CONSTRAINTS calls the triggers of all notes there are: those that were written before the trial need none. (Nothing
-- of the trial stays.) A setting says when that was, and any user can write it. It counts only if it is a time that has
-- passed: each note that is written again is then a later one, and this ends.
create or replace function :"schema"._is_ending(p_noted_at timestamptz) returns boolean
language plpgsql volatile :pinned as $$
declare
    setting constant text := current_setting('boxcar.called_early', true);
    called_early numeric;
begin
    if current_query() ~* '^\s*(commit|end)(\s+(work|transaction))?\s*;?\s*$' then
        return true;
    end if;
    called_early := case when setting ~ '^\d{1,12}(\.\d{1,6})?$' then setting::numeric end;
    if extract(epoch from p_noted_at) < called_early and called_early <= extract(epoch from clock_timestamp()) then
        return false;
    end if;
    begin
        insert into :"schema".end_note (box, has_turn) values (-1, false);
        raise exception using errcode = 'BX098';
    exception
        when sqlstate 'BX098' then
            return true;
        when sqlstate 'BX097' then
            perform set_config('boxcar.called_early', extract(epoch from clock_timestamp())::text, true);
            return false;
    end;
end $$;
