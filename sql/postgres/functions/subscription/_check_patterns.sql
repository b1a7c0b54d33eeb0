-- The rules for the patterns of a subscription.
create or replace function :"schema"._check_patterns(patterns text[]) returns void
language plpgsql immutable :pinned as $$
begin
    perform :"schema"._fault('', case
        when array_ndims(patterns) > 1 or coalesce(cardinality(patterns), 0) not between 1 and :pattern_count_max
            then array['patterns', 'must be 1 to :pattern_count_max topics, or prefixes and *; * alone stands for every topic']
        when exists (select from unnest(patterns) t where not :"schema"._is_pattern(t))
            then array['patterns', 'must be topics of 1 to :topic_max characters, or prefixes and *, with no * elsewhere'] end);
end $$;
