-- Does nothing. Programs of schema version 9 call it before they look at streams, so that new messages are sorted in;
-- now _stream_page finds those by itself. It took the claimers' turn, and any viewer could keep that.
create or replace function :"schema"._sort_now(p_box smallint) returns void
language plpgsql volatile security definer :pinned as $$
begin
    null;
end $$;
