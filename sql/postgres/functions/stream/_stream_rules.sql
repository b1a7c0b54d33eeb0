-- All rules by pattern.
create or replace function :"schema"._stream_rules() returns table (pattern text, halts boolean)
language sql stable security definer :pinned as $$
    select r.pattern::text, r.halts from :"schema".stream_rule r order by 1
$$;
