/* The inbox: keys, and messages stored once for each key. While a key has a message, the state of the key is
 * read from the message. When the message is removed, a trigger records how it ended (see the migration). */
#include "inbox.h"

#include "base/utf8.h"
#include "store/sqlite/admin/setting.h"
#include "store/sqlite/connection/transaction.h"
#include "store/sqlite/message/enqueue.h"

enum key_state { KEY_SEEN, KEY_QUEUED, KEY_DONE, KEY_DEAD };

struct key_row {
    bool found;
    enum key_state state;
    int64_t work_id; /* 0 = none */
    bool hash_mismatch;
};

/* ---- one key ---- */

static bool differ(boxcar_str given, boxcar_str kept) {
    return !str_is_absent(given) && !str_is_absent(kept) && !str_equal(given, kept);
}

static boxcar_status key_read(struct sqlite_store *store, const struct inbox_origin *origin,
                              struct key_row *ret_row, boxcar_error *err) {
    AUTO_QUERY struct query query =
        query_with(store, S_KEY_READ, Q_TEXT(origin->source), Q_TEXT(origin->external_id));
    *ret_row = (struct key_row){.found = query_next(&query)};
    if (ret_row->found) {
        ret_row->state = (enum key_state)query_get_int(&query, 0);
        ret_row->work_id = query_get_int(&query, 1);
        ret_row->hash_mismatch = differ(origin->content_hash, query_get_text(&query, 2));
    }
    return query_status(&query, err);
}

/* A key that is not known as more than seen gets a new state. */
static boxcar_status key_take(struct sqlite_store *store, const struct inbox_origin *origin,
                              const struct key_row *before, enum key_state state, int64_t work_id,
                              boxcar_error *err) {
    return query_do(store, before->found ? S_KEY_TAKE : S_KEY_INSERT, err, Q_TEXT(origin->source),
                    Q_TEXT(origin->external_id), Q_INT(state),
                    Q_TIME(work_id > 0 ? work_id : BOXCAR_TIME_NONE),
                    Q_TIME(state == KEY_DONE ? store->now : BOXCAR_TIME_NONE), Q_INT(store->now),
                    Q_TEXT(origin->content_hash));
}

static boxcar_status key_touch(struct sqlite_store *store, const struct inbox_origin *origin,
                               boxcar_error *err) {
    return query_do(store, S_KEY_TOUCH, err, Q_TEXT(origin->source), Q_TEXT(origin->external_id),
                    Q_INT(store->now), Q_TEXT(origin->content_hash));
}

static bool is_free(const struct key_row *row) { return !row->found || row->state == KEY_SEEN; }

/* ---- storing ---- */

static boxcar_status error_taken(boxcar_message_id message_id, boxcar_error *err) {
    char text[BOXCAR_UUID_TEXT_SIZE];
    boxcar_uuid_format(message_id.uuid, text);
    return error_set(err, BOXCAR_E_CONFLICT, "another message has the id %s, which stands for this key",
                     text);
}

static boxcar_status deliver(struct sqlite_store *store, struct enqueueing *enqueueing,
                             const boxcar_new_message *message, boxcar_enqueued *enqueued,
                             boxcar_error *err) {
    struct inbox_origin origin = inbox_origin_of(message);
    struct key_row row;
    TRY(key_read(store, &origin, &row, err));
    *enqueued = (boxcar_enqueued){.work_id = {row.work_id},
                                  .message_id = origin.message_id,
                                  .duplicate = !is_free(&row),
                                  .hash_mismatch = row.hash_mismatch};
    if (enqueued->duplicate)
        return key_touch(store, &origin, err);
    boxcar_enqueued stored;
    TRY(sqlite_enqueue_next(store, enqueueing, message, NULL, &stored, err));
    if (stored.duplicate)
        return error_taken(message->message_id, err);
    enqueued->work_id = stored.work_id;
    return key_take(store, &origin, &row, KEY_QUEUED, stored.work_id.value, err);
}

boxcar_status sqlite_inbox_enqueue(struct sqlite_store *store, const struct request *request,
                                   struct result *result, boxcar_error *err) {
    boxcar_new_message_list messages = request->base.messages[BOXCAR_INBOX];
    if (messages.count == 0)
        return BOXCAR_OK;
    boxcar_enqueued *enqueued = arena_alloc_array(&result->arena, messages.count, sizeof(*enqueued));
    if (enqueued == NULL)
        return error_no_memory(err);
    struct enqueueing enqueueing;
    TRY(sqlite_enqueue_begin(store, BOXCAR_INBOX, false, &enqueueing, err));
    for (size_t i = 0; i < messages.count; i++)
        TRY(deliver(store, &enqueueing, &messages.items[i], &enqueued[i], err));
    result->parts[BOXCAR_INBOX].enqueued = enqueued;
    return BOXCAR_OK;
}

/* ---- asking ---- */

struct asking {
    const struct inbox_origin *origin;
    bool answer, hash_mismatch;
};

static boxcar_status look(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct asking *asking = context;
    struct key_row row;
    TRY(key_read(store, asking->origin, &row, err));
    asking->hash_mismatch = row.hash_mismatch;
    int64_t has_ended = row.found && row.state == KEY_DONE;
    if (row.found && row.state == KEY_QUEUED)
        TRY(query_find_int(store, S_IS_FINISHED, &has_ended, err, Q_INT(row.work_id)));
    asking->answer = has_ended != 0;
    return row.found ? key_touch(store, asking->origin, err)
                     : key_take(store, asking->origin, &row, KEY_SEEN, 0, err);
}

static boxcar_status accept(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct asking *asking = context;
    struct key_row row;
    TRY(key_read(store, asking->origin, &row, err));
    asking->hash_mismatch = row.hash_mismatch;
    asking->answer = is_free(&row);
    return asking->answer ? key_take(store, asking->origin, &row, KEY_DONE, 0, err)
                          : key_touch(store, asking->origin, err);
}

/* That it was seen need not survive a power cut. */
boxcar_status sqlite_inbox_ask(struct boxcar_store *store, const struct inbox_origin *origin,
                               enum inbox_question question, bool *ret_answer, bool *ret_hash_mismatch,
                               boxcar_error *err) {
    struct asking asking = {.origin = origin};
    bool accepts = question == INBOX_ACCEPT;
    TRY(sqlite_transaction(sqlite_of(store), accepts ? ACCESS_WRITE : ACCESS_WRITE_RELAXED,
                           accepts ? accept : look, &asking, err));
    *ret_answer = asking.answer;
    *ret_hash_mismatch = asking.hash_mismatch;
    return BOXCAR_OK;
}

/* ---- looking ---- */

struct finding {
    boxcar_inbox_key key;
    struct inbox_receipt_rows *list;
};

static boxcar_status find(struct sqlite_store *store, void *context, boxcar_error *err) {
    const struct finding *finding = context;
    struct inbox_receipt_rows *list = finding->list;
    AUTO_QUERY struct query query =
        query_with(store, S_KEY_FIND, Q_TEXT(finding->key.source), Q_TEXT(finding->key.external_id));
    bool found = query_next(&query);
    TRY(query_status(&query, err));
    if (!found)
        return error_set(err, BOXCAR_E_NOT_FOUND, "the inbox has never heard of this key");
    list_clear(list);
    boxcar_inbox_receipt *receipt = list_add(list, sizeof(*receipt));
    if (receipt == NULL)
        return error_no_memory(err);
    *receipt = (boxcar_inbox_receipt){.message_id = boxcar_inbox_message_id(finding->key),
                                      .work_id = {query_get_int(&query, 0)},
                                      .state = (boxcar_inbox_state)query_get_int(&query, 1),
                                      .first_seen_at = query_get_time(&query, 3),
                                      .last_seen_at = query_get_time(&query, 4),
                                      .seen_count = query_get_int(&query, 5),
                                      .ended_at = query_get_time(&query, 6)};
    if (boxcar_uuid_is_none(receipt->message_id.uuid) ||
        !arena_copy_str(&list->arena, finding->key.source, &receipt->source) ||
        !arena_copy_str(&list->arena, finding->key.external_id, &receipt->external_id))
        return error_no_memory(err);
    return query_copy_text(&query, 2, &list->arena, &receipt->content_hash, err);
}

boxcar_status sqlite_inbox_find(struct boxcar_store *store, boxcar_inbox_key key,
                                struct inbox_receipt_rows **ret_list, boxcar_error *err) {
    struct finding finding = {.key = key, .list = calloc(1, sizeof(*finding.list))};
    if (finding.list == NULL)
        return error_no_memory(err);
    boxcar_status status = sqlite_transaction(sqlite_of(store), ACCESS_READ, find, &finding, err);
    if (status == BOXCAR_OK)
        *ret_list = finding.list;
    else
        list_free(finding.list);
    return status;
}

boxcar_status sqlite_inbox_read_key(struct sqlite_store *store, struct arena *arena, boxcar_message *message,
                                    boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_KEY_OF_MESSAGE, Q_INT(message->work_id.value));
    if (!query_next(&query))
        return query_status(&query, err);
    TRY(query_copy_text(&query, 0, arena, &message->source, err));
    return query_copy_text(&query, 1, arena, &message->external_id, err);
}

/* ---- upkeep ---- */

boxcar_status sqlite_inbox_sweep(struct sqlite_store *store, int limit, int64_t *ret_count,
                                 boxcar_error *err) {
    TRY(sqlite_settings_load(store, err));
    TRY(query_do(store, S_KEYS_SWEEP, err, Q_INT(store->now - store->settings.retention_inbox_ms * 1000),
                 Q_INT(limit)));
    *ret_count = sqlite3_changes(store->db);
    return BOXCAR_OK;
}
