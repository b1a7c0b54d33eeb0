-- For how long a registered instance may be silent.
create or replace function :"schema"._instance_timeout() returns interval
language plpgsql stable :pinned as $$
begin
    return make_interval(secs => :"schema"._setting('instance_timeout', 30000) / 1000);
end $$;
