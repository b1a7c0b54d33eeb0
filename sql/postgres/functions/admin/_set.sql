-- Changes a setting; null restores the default. Partitions cannot be renumbered once there are streams (BX003).
create or replace function :"schema"._set(p_name text, p_number double precision, p_text text default null)
returns void
language plpgsql volatile security definer :pinned as $$
begin
    if p_name = 'partition_count' and coalesce(p_number, 10000) <> :"schema"._setting(p_name, 10000)
       and (exists (select from :"schema".frontier f where f.lane = 1 and f.seq > 0)
            or exists (select from generate_series(0, 1) b cross join lateral (
                           select from :"schema".message m where m.box = b and m.lane = 1 limit 1) m)) then
        raise exception using errcode = 'BX003',
            message = format('partition_count stays %s: this store has had messages in streams, and their partitions '
                             'are fixed; set it in a new store', :"schema"._setting(p_name, 10000));
    end if;
    if p_name = 'join_wait_topic' then   -- messages under the old topic are ordinary from now on, and the other way round
        update :"schema".parked p set crash_count = -(p.topic = coalesce(p_text, 'join.wait'))::int
        where p.box = 0 and p.stream is null and p.crash_count <= 0
          and p.topic in (:"schema"._wait_topic(), coalesce(p_text, 'join.wait'));
    end if;
    if p_number is null then
        delete from :"schema".setting s where s.name = p_name;
        return;
    end if;
    insert into :"schema".setting (name, number, text) values (p_name, p_number, p_text)
    on conflict (name) do update set number = excluded.number, text = excluded.text;
end $$;
