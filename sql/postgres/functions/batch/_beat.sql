-- The heartbeat of a batch: registers the owner in each box that the batch has a part for, with the topics that this
-- part claims or lists.
create or replace function :"schema"._beat(p_owner uuid, heartbeat jsonb, outbox jsonb, inbox jsonb) returns void
language plpgsql volatile :hot as $$
declare
    host text := coalesce(heartbeat ->> 'host', '');
    pid bigint := coalesce((heartbeat ->> 'pid')::bigint, 0);
    concurrency int := coalesce((heartbeat ->> 'concurrency')::int, 1);
begin
    if outbox is null and inbox is null then
        perform :"schema"._beat_alone(p_owner, host, pid, concurrency);
        return;
    end if;
    perform :"schema"._register(p_owner, p.box, host, pid, concurrency,
                                coalesce(t.exact, case when c.claims then '{}'::text[] end),
                                coalesce(t.prefixes, case when c.claims then '{""}'::text[] end))
    from (values (0::smallint, outbox), (1::smallint, inbox)) p(box, part),
         :"schema"._batch_topics(p.part) t,
         lateral (select coalesce((p.part #>> '{claim,batch_size}')::int, 0) > 0 as claims) c
    where p.part is not null;
end $$;
