-- Whether a stream halts when a message of it dies: the longest rule that matches decides, else the setting.
create or replace function :"schema"._halts(key text) returns boolean
language plpgsql stable :hot as $$
begin
    return coalesce(
        (select r.halts from :"schema".stream_rule r
         where r.pattern = key or right(r.pattern, 1) = '*' and starts_with(key, left(r.pattern, -1))
         order by r.pattern <> key, length(r.pattern) desc limit 1),
        (select s.text = 'halt' from :"schema".setting s where s.name = 'stream_policy'), false);
end $$;
