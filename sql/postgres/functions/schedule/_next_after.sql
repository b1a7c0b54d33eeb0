-- How long after the completion of a slice the next one is due.
create or replace function :"schema"._next_after(s :"schema".schedule_row) returns interval
language plpgsql volatile :pinned as $$
begin
    return make_interval(secs => (s.every_ms + random() * s.jitter_ms) / 1000.0);
end $$;
