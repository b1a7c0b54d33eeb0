-- Writes a rule; p_halts null removes it. Returns whether there was one.
create or replace function :"schema"._stream_rule(p_pattern text, p_halts boolean) returns boolean
language plpgsql volatile security definer :hot as $$
declare
    was_there boolean;
begin
    if p_halts is null then
        delete from :"schema".stream_rule r where r.pattern = p_pattern;
        return found;
    end if;
    was_there := exists (select from :"schema".stream_rule r where r.pattern = p_pattern);
    insert into :"schema".stream_rule as r (pattern, halts) values (p_pattern, p_halts)
    on conflict (pattern) do update set halts = excluded.halts;
    return was_there;
end $$;
