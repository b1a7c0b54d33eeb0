-- For _at_end: whether its transaction ends now. SET CONSTRAINTS calls deferred triggers before that; what they then did for
-- others, and to the pool, would stay locked until the end. p_noted_at: when the note was written that is looked at.
--
-- Mostly the statement is a COMMIT and nothing else. If not, a note is written on trial: its trigger is called at once if
-- constraints are immediate. They are not when we come here at the end, since _at_end defers its own again. SET CONSTRAINTS calls
-- triggers for all notes there are: those that were written before it need no trial. (Nothing of the trial stays.) Everybody can
-- write the setting that says when that was. It is not believed unless it is a time that has passed: each note that is
-- written again is then a later one, and this ends.
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
