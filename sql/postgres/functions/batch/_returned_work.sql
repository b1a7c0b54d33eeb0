-- The work that a part of a batch wants back in addition to its claim: the messages that it renewed, or all that its
-- owner holds.
create or replace function :"schema"._returned_work(
    p_box smallint, p_owner uuid, part jsonb, answer jsonb, claimed :"schema".claimed_message[])
returns :"schema".claimed_message[] language plpgsql stable :hot as $$
begin
    if part ->> 'return' is null then
        return '{}':::"schema".claimed_message[];
    end if;
    return :"schema"._owned_work(
        p_box, p_owner, array(select c.work_id from unnest(claimed) c),
        case part ->> 'return' when 'renewed' then array(
            select (e.o #>> '{}')::bigint from jsonb_array_elements(answer -> 'renews') e(o)) end);
end $$;
