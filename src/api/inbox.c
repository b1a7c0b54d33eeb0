/* The inbox: asking, accepting, reviving. Its messages are stored, claimed and settled in message/message.c.
 */
#include "base/utf8.h"
#include "check.h"
#include "store/inbox_log.h"
#include "store/store.h"

#define REVIVE_TRIES 3

static boxcar_status read_origin(boxcar_inbox_key key, boxcar_str content_hash,
                                 struct inbox_origin *ret_origin, boxcar_error *err) {
    TRY(limits_check_inbox_key(key, content_hash, err));
    struct inbox_origin origin = {.source = key.source,
                                  .external_id = key.external_id,
                                  .content_hash = str_unless_empty(content_hash),
                                  .message_id = boxcar_inbox_message_id(key)};
    if (boxcar_uuid_is_none(origin.message_id.uuid))
        return error_no_memory(err);
    *ret_origin = origin;
    return BOXCAR_OK;
}

/* ---- asking ---- */

static const struct {
    const char *output;
    const char *event;
    const char *yes, *no;
} QUESTIONS[] = {
    [INBOX_IS_PROCESSED] = {"ret_processed", "inbox_check", "message has been processed",
                            "message has not been processed"},
    [INBOX_ACCEPT] = {"ret_is_new", "inbox_accept", "message accepted", "message is known already"},
};

static boxcar_status ask(boxcar_store *store, enum inbox_question question, boxcar_inbox_key key,
                         boxcar_str content_hash, bool *ret_answer, bool *ret_hash_mismatch,
                         boxcar_error *err) {
    struct inbox_origin origin;
    bool mismatch = false;

    TRY(check_given(store, "store", err));
    TRY(check_given(ret_answer, QUESTIONS[question].output, err));
    TRY(read_origin(key, content_hash, &origin, err));
    TRY(store->ops->inbox_ask(store, &origin, question, ret_answer, &mismatch, err));
    inbox_log_key(store, BOXCAR_LOG_DEBUG, QUESTIONS[question].event, &origin,
                  *ret_answer ? QUESTIONS[question].yes : QUESTIONS[question].no);
    inbox_log_hash(store, &origin, mismatch);
    if (ret_hash_mismatch)
        *ret_hash_mismatch = mismatch;
    return BOXCAR_OK;
}

boxcar_status boxcar_inbox_already_processed(boxcar_store *store, boxcar_inbox_key key,
                                             boxcar_str content_hash, bool *ret_processed,
                                             bool *ret_hash_mismatch, boxcar_error *err) {
    return ask(store, INBOX_IS_PROCESSED, key, content_hash, ret_processed, ret_hash_mismatch, err);
}

boxcar_status boxcar_inbox_accept(boxcar_store *store, boxcar_inbox_key key, boxcar_str content_hash,
                                  bool *ret_is_new, bool *ret_hash_mismatch, boxcar_error *err) {
    return ask(store, INBOX_ACCEPT, key, content_hash, ret_is_new, ret_hash_mismatch, err);
}

boxcar_status boxcar_inbox_find(boxcar_store *store, boxcar_inbox_key key,
                                boxcar_inbox_receipt_list **ret_list, boxcar_error *err) {
    struct inbox_receipt_rows *rows;

    TRY(check_read(store, ret_list, err));
    TRY(limits_check_inbox_key(key, BOXCAR_NO_STR, err));
    TRY(store->ops->inbox_find(store, key, &rows, err));
    return LIST_GIVE(rows, ret_list, err);
}

/* ---- reviving ---- */

static boxcar_status replay(boxcar_store *store, boxcar_work_id work_id, boxcar_str reason, bool *ret_done,
                            boxcar_error *err) {
    boxcar_message_ref ref = {.work_id = work_id};
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    const struct message_choice choice = {.dead = &filter, .limit = 1};
    struct message_change done;

    filter.box = BOXCAR_INBOX;
    filter.refs = &ref;
    filter.ref_count = 1;
    TRY(store->ops->message_change(store, &choice, MESSAGE_REPLAY, utf8_cut(reason, BOXCAR_ERROR_TEXT_MAX),
                                   &done, err));
    *ret_done = done.count > 0;
    return BOXCAR_OK;
}

static boxcar_status look_up(boxcar_store *store, boxcar_message_ref ref, boxcar_work_id *ret_work_id,
                             boxcar_message_status *ret_status, boxcar_error *err) {
    const struct message_choice choice = {.box = BOXCAR_INBOX, .ref = ref};
    struct message_rows *rows;

    TRY(store->ops->message_read(store, &choice, &rows, err));
    *ret_work_id = rows->items[0].work_id;
    *ret_status = rows->items[0].status;
    list_free(rows);
    return BOXCAR_OK;
}

/* It may change its status between our look and our step: then we look again. */
static boxcar_status revive(boxcar_store *store, boxcar_message_ref ref, boxcar_str reason,
                            boxcar_work_id *ret_work_id, boxcar_error *err) {
    boxcar_message_status was = BOXCAR_READY;
    bool done = false;

    for (int i = 0; i < REVIVE_TRIES && !done; i++) {
        TRY(look_up(store, ref, ret_work_id, &was, err));
        if (was != BOXCAR_FAILED)
            break;
        TRY(replay(store, *ret_work_id, reason, &done, err));
    }
    return done ? BOXCAR_OK
                : error_set(err, BOXCAR_E_CONFLICT,
                            "the message is %s, not dead: only dead letters are revived",
                            boxcar_message_status_name(was));
}

boxcar_status boxcar_inbox_revive(boxcar_store *store, boxcar_message_ref ref, boxcar_str reason,
                                  boxcar_work_id *ret_work_id, boxcar_error *err) {
    boxcar_work_id work_id;

    TRY(check_given(store, "store", err));
    TRY(limits_check_ref(ref, "ref", err));
    if (str_is_empty(reason))
        return error_invalid(err, "reason", "reason is empty: say why the message is revived");
    TRY(limits_check_text(reason, "reason", SIZE_MAX, err));
    TRY(revive(store, ref, reason, &work_id, err));
    store_log(store, BOXCAR_LOG_INFO, "inbox_revive", NULL, 0, "revived a dead letter of the inbox");
    if (ret_work_id)
        *ret_work_id = work_id;
    return BOXCAR_OK;
}
