-- The rules for the data of an instance. exact and prefixes: the topics that it handles, null if it names none.
create or replace function :"schema"._check_instance(
    instance_id uuid, box smallint, host text, pid bigint, concurrency int, exact text[], prefixes text[])
returns void language plpgsql immutable :pinned as $$
begin
    perform :"schema"._fault('', case
        when coalesce(instance_id, '00000000-0000-0000-0000-000000000000') = '00000000-0000-0000-0000-000000000000'
            then array['owner', 'is missing: give the UUID of the worker']
        when box is null or box < 0 then array['box', 'must be 0, 1 or the number of a subscription']
        when host is null or char_length(host) > :host_max then array['host', 'is null or longer than :host_max characters']
        when pid is null or pid < 0 then array['pid', 'is out of range: give 0 or more']
        when concurrency is null or concurrency < 1 then array['concurrency', 'is out of range: give 1 or more']
        when exists (select from unnest(exact || prefixes) t where t is null or char_length(t) > :topic_max)
            then array['topics', 'has one that is null or longer than :topic_max characters'] end);
end $$;
