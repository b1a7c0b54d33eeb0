-- Whether a claim that does not say that it is alone seems to be a transaction by itself all the same, as it mostly is: its statement
-- is the first of its transaction, names the claim, and is all that the client has sent. (A function of somebody's that claims may
-- go on for long, and so may what comes after BEGIN or a semicolon.)
create or replace function :"schema"._is_single() returns boolean
language plpgsql volatile as $$
begin
    return statement_timestamp() = transaction_timestamp()
       and coalesce(current_query() ~* '\m(outbox_claim|inbox_claim|process_work_batch)"?\s*\('
                    and current_query() !~* '\m(begin|start)\M|;\s*\S', false);
end $$;
