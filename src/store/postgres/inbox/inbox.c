/* The inbox: keys. Its messages go with a request, see request/send.c. */
#include "inbox.h"

#include <string.h>

#include "base/error.h"
#include "store/postgres/connection/query.h"
#include "store/postgres/statement/params.h"
#include "store/postgres/statement/rows.h"

/* Asking is repeated when the answer is lost: a key that was seen twice is as good as one that was seen once.
 * Accepting is sent only once: a second try would find the mark of the first, and report that the key is not
 * new. */
boxcar_status pg_inbox_ask(struct boxcar_store *store, const struct inbox_origin *origin,
                           enum inbox_question question, bool *ret_answer, bool *ret_hash_mismatch,
                           boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;
    boxcar_status status;

    pg_params_text(&params, origin->source);
    pg_params_text(&params, origin->external_id);
    pg_params_text(&params, origin->content_hash);
    pg_params_uuid(&params, origin->message_id.uuid.bytes);
    status = question == INBOX_ACCEPT
                 ? pg_query_unrepeated(pg_store_of(store), PG_INBOX_ACCEPT, &params, &result, err)
                 : pg_query(pg_store_of(store), PG_INBOX_LOOK, &params, &result, err);
    if (status != BOXCAR_OK)
        return status;
    *ret_answer = pg_get_bool(result, 0, 0);
    *ret_hash_mismatch = pg_get_bool(result, 0, 1);
    return BOXCAR_OK;
}

static void read_receipt(const PGresult *r, int row, void *item) {
    boxcar_inbox_receipt *receipt = item;

    memset(receipt, 0, sizeof(*receipt));
    receipt->source = pg_get_text(r, row, 0);
    receipt->external_id = pg_get_text(r, row, 1);
    pg_get_uuid(r, row, 2, receipt->message_id.uuid.bytes);
    receipt->work_id.value = pg_get_int8(r, row, 3);
    (void)boxcar_inbox_state_parse(pg_get_text(r, row, 4), &receipt->state);
    receipt->content_hash = pg_get_text(r, row, 5);
    receipt->first_seen_at = pg_get_time(r, row, 6);
    receipt->last_seen_at = pg_get_time(r, row, 7);
    receipt->seen_count = pg_get_int8(r, row, 8);
    receipt->ended_at = pg_get_time(r, row, 9);
}

boxcar_status pg_inbox_find(struct boxcar_store *store, boxcar_inbox_key key,
                            struct inbox_receipt_rows **ret_list, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    PGresult *result = NULL;
    boxcar_status status;

    pg_params_text(&params, key.source);
    pg_params_text(&params, key.external_id);
    status = pg_query(pg_store_of(store), PG_INBOX_FIND, &params, &result, err);
    if (status != BOXCAR_OK)
        return status;
    if (PQntuples(result) > 0)
        return PG_INTO_LIST(result, read_receipt, ret_list, err);
    PQclear(result);
    return error_set(err, BOXCAR_E_NOT_FOUND, "the inbox has never heard of this key");
}
