-- Messages were removed: this removes unique keys that they still had. Arrays that go together by position, or null. A
-- key that another transaction holds is passed over: that transaction is about to give it to a message of its own.
create or replace function :"schema"._forget_keys(keys uuid[], holders uuid[]) returns void
language plpgsql volatile :hot as $$
begin
    if keys is not null then
        delete from :"schema".unique_key k
        where k.key_id = any (array(
            select x.key_id from unnest(keys, holders) g(key, holder) cross join lateral (
                select x.key_id from :"schema".unique_key x
                where x.key_id = g.key and x.message_id = g.holder for update skip locked) x));
    end if;
end $$;
