-- Sets the rule for the streams that a pattern names (a key, or a prefix and *) when one of their messages dies:
-- 'continue' or 'halt'; null removes the rule. Returns whether there was one.
create or replace function :"schema".stream_rule(pattern text, policy text) returns boolean
language plpgsql volatile security definer :pinned as $$
begin
    perform :"schema"._fault('', case
        when pattern is null or pattern = '' or length(pattern) > 256 or length(pattern) = 256 and right(pattern, 1) <> '*'
            then array['pattern', 'must have 1 to :stream_max characters, and may end in *']
        when policy not in ('continue', 'halt') then array['policy', 'must be continue, halt or null'] end);
    return :"schema"._stream_rule(pattern, policy = 'halt');
end $$;
