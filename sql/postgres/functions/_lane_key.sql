-- What the lane of a join is locked by. A collision only makes somebody take another lane, or wait a moment.
create or replace function :"schema"._lane_key(p_join uuid, p_lane int) returns bigint
language sql immutable as $$ select pg_catalog.uuid_hash_extended(p_join, p_lane::bigint) $$;
