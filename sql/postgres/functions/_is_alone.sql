-- Whether to believe a caller who says that his claim is a transaction by itself. Not if the transaction has begun some time
-- ago, or has written something: others would wait for its end, and what it wrote might not reach the disk. (Drivers that
-- send a statement in parts begin its transaction a little before it.)
create or replace function :"schema"._is_alone(alone boolean) returns boolean
language plpgsql stable as $$
begin
    return coalesce(alone, false) and statement_timestamp() < transaction_timestamp() + interval '50 milliseconds'
       and pg_current_xact_id_if_assigned() is null;
end $$;
