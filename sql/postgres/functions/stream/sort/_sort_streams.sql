-- Comes past up to 1,000 new messages of the streamed lane: _come_past_streams says more. Only under the turn.
create or replace function :"schema"._sort_streams(p_box smallint, ts timestamptz) returns boolean
language plpgsql volatile :hot as $$
begin
    return :"schema"._come_past_streams(p_box, ts, 1000);
end $$;
