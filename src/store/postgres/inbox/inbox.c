/* The inbox: keys. Its messages go with a request, see request/send.c. */
#include "inbox.h"

#include "base/error.h"
#include "store/postgres/connection/query.h"

/* Asking is repeated when the answer is lost: a key that was seen twice is as good as one that was seen once.
 * Accepting is sent only once: a second try would find the mark of the first, and report that the key is not
 * new. */
boxcar_status pg_inbox_ask(struct boxcar_store *store, const struct inbox_origin *origin,
                           enum inbox_question question, bool *ret_answer, bool *ret_hash_mismatch,
                           boxcar_error *err) {
    AUTO_RESULT PGresult *result = NULL;

    TRY(pg_ask(pg_store_of(store), question == INBOX_ACCEPT ? PG_INBOX_ACCEPT : PG_INBOX_LOOK, &result, err,
               P_TEXT(origin->source), P_TEXT(origin->external_id), P_TEXT(origin->content_hash),
               P_ID(origin->message_id)));
    *ret_answer = pg_get_bool(result, 0, 0);
    *ret_hash_mismatch = pg_get_bool(result, 0, 1);
    return BOXCAR_OK;
}

static void read_receipt(const PGresult *r, int row, void *item) {
    boxcar_inbox_receipt *receipt = item;

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
    struct inbox_receipt_rows *list;

    TRY(pg_ask_list(pg_store_of(store), PG_INBOX_FIND, read_receipt, &list, err, P_TEXT(key.source),
                    P_TEXT(key.external_id)));
    if (list->count == 0) {
        list_free(list);
        return error_set(err, BOXCAR_E_NOT_FOUND, "the inbox has never heard of this key");
    }
    *ret_list = list;
    return BOXCAR_OK;
}
