-- Whether a subscription is paused. Only the main readers never are, so claims ask for others. A claim that asks keeps its
-- subscription from being rewound or removed until its transaction ends (_stop_claims). BX002: there is no such subscription.
create or replace function :"schema"._is_paused(p_reader smallint) returns boolean
language plpgsql volatile as $$
declare
    r record;
begin
    execute format('lock table %s in access share mode', :"schema"._own('turn', p_reader));
    select x.paused_at, x.removed_at into r from :"schema".reader x where x.number = p_reader;
    if not found or r.removed_at is not null then
        perform :"schema"._no_reader(p_reader::text);
    end if;
    return r.paused_at is not null;
end $$;
