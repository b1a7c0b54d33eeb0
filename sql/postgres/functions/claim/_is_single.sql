-- Whether a claim seems to be a transaction by itself although it does not say that it is alone. Most are: the
-- statement is the first of its transaction, names the claim, and is all that the client has sent. (A user's function
-- that claims may go on for long, and so may a transaction after BEGIN or a semicolon.)
create or replace function :"schema"._is_single() returns boolean
language plpgsql volatile as $$
begin
    return statement_timestamp() = transaction_timestamp()
       and coalesce(current_query() ~* '\m(outbox_claim|inbox_claim|process_work_batch)"?\s*\('
                    and current_query() !~* '\m(begin|start)\M|;\s*\S', false);
end $$;
