/* The inbox: storing once for each key, asking, accepting, reviving. Claiming and settling are with those of
 * the outbox, in outbox.c and settle.c. */
#include <stdio.h>
#include <string.h>

#include "api/check.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/utf8.h"
#include "core/limits.h"
#include "store/store.h"

#define REVIVE_TRIES 3

static boxcar_str empty_is_absent(boxcar_str text) { return str_is_empty(text) ? BOXCAR_NO_STR : text; }

/* ---- keys ---- */

static boxcar_status read_origin(boxcar_inbox_key key, boxcar_str content_hash,
                                 struct inbox_origin *ret_origin, boxcar_error *err) {
    boxcar_status status = limits_check_inbox_key(key, content_hash, err);
    boxcar_message_id message_id;

    if (status != BOXCAR_OK)
        return status;
    message_id = boxcar_inbox_message_id(key);
    if (boxcar_message_id_is_none(message_id))
        return error_no_memory(err);
    *ret_origin = (struct inbox_origin){.source = key.source,
                                        .external_id = key.external_id,
                                        .content_hash = empty_is_absent(content_hash),
                                        .message_id = message_id};
    return BOXCAR_OK;
}

enum { SOURCE, EXTERNAL_ID, MESSAGE_ID, KEY_FIELDS };

static void key_fields(const struct inbox_origin *origin, char text[BOXCAR_UUID_TEXT_SIZE],
                       boxcar_log_field *ret_fields) {
    boxcar_message_id_format(origin->message_id, text);
    ret_fields[SOURCE] = (boxcar_log_field){"source", origin->source};
    ret_fields[EXTERNAL_ID] = (boxcar_log_field){"external_id", origin->external_id};
    ret_fields[MESSAGE_ID] = (boxcar_log_field){"message_id", boxcar_str_of(text)};
}

static void log_key(const boxcar_store *store, boxcar_log_level level, const char *event,
                    const struct inbox_origin *origin, const char *text) {
    char message_id[BOXCAR_UUID_TEXT_SIZE];
    boxcar_log_field fields[KEY_FIELDS];

    if (!store_logs(store, level))
        return;
    key_fields(origin, message_id, fields);
    store_log(store, level, event, fields, KEY_FIELDS, "%s", text);
}

static void warn_of_hash(const boxcar_store *store, const struct inbox_origin *origin, bool mismatch) {
    if (mismatch)
        log_key(store, BOXCAR_LOG_WARN, "inbox_hash_mismatch", origin,
                "a message came again with another content hash; the first one stays");
}

/* ---- storing ---- */

static void to_message(const boxcar_new_inbox_message *said, boxcar_new_message *ret_message) {
    *ret_message = BOXCAR_NEW_MESSAGE_INIT;
    ret_message->topic = said->topic;
    ret_message->payload = said->payload;
    ret_message->correlation_id = said->correlation_id;
    ret_message->stream = said->stream;
    ret_message->headers = said->headers;
    ret_message->due_at = said->due_at;
    ret_message->delay_ms = said->delay_ms;
    ret_message->ttl_ms = said->ttl_ms;
    ret_message->max_attempts = said->max_attempts;
}

/* Into the form that stores want: checked, with the id that the key stands for. */
static boxcar_status read_message(const boxcar_new_inbox_message *given, boxcar_new_message *ret_message,
                                  struct inbox_origin *ret_origin, boxcar_error *err) {
    boxcar_new_inbox_message said = BOXCAR_NEW_INBOX_MESSAGE_INIT;
    boxcar_status status = options_read(&said, sizeof(said), given, "message", err);

    if (status == BOXCAR_OK)
        status = read_origin((boxcar_inbox_key){said.source, said.external_id}, said.content_hash, ret_origin,
                             err);
    if (status != BOXCAR_OK)
        return status;
    to_message(&said, ret_message);
    status = limits_check_new_message(ret_message, "", err);
    ret_message->message_id = ret_origin->message_id;
    ret_message->correlation_id = empty_is_absent(ret_message->correlation_id);
    ret_message->stream = empty_is_absent(ret_message->stream);
    return status;
}

/* What a call brings, in the form that stores want, and what they say to it. */
struct delivery_batch {
    struct arena arena;
    boxcar_new_message *messages;
    struct inbox_origin *origins;
    boxcar_inbox_enqueued *enqueued;
    size_t count;
};

static void release(struct delivery_batch *batch) { arena_release(&batch->arena); }

static boxcar_status reserve(struct delivery_batch *batch, size_t count, boxcar_error *err) {
    batch->messages = arena_alloc_array(&batch->arena, count, sizeof(*batch->messages));
    batch->origins = arena_alloc_array(&batch->arena, count, sizeof(*batch->origins));
    batch->enqueued = arena_alloc_array(&batch->arena, count, sizeof(*batch->enqueued));
    batch->count = count;
    return batch->messages && batch->origins && batch->enqueued ? BOXCAR_OK : error_no_memory(err);
}

/* The caller's structs may be smaller than ours: they say how far apart they are. */
static boxcar_status read_messages(const boxcar_new_inbox_message *messages, struct delivery_batch *batch,
                                   boxcar_error *err) {
    size_t stride = messages->struct_size;

    for (size_t i = 0; i < batch->count; i++) {
        const boxcar_new_inbox_message *given =
            (const boxcar_new_inbox_message *)((const char *)messages + i * stride);
        char where[40];
        boxcar_status status = BOXCAR_OK;

        snprintf(where, sizeof(where), "messages[%zu].", i);
        if (stride % _Alignof(boxcar_new_inbox_message) != 0 || given->struct_size != stride)
            status =
                error_invalid(err, "struct_size",
                              "struct_size is wrong: start every message from BOXCAR_NEW_INBOX_MESSAGE_INIT");
        if (status == BOXCAR_OK)
            status = read_message(given, &batch->messages[i], &batch->origins[i], err);
        if (status != BOXCAR_OK)
            return error_locate(status, where, err);
    }
    return BOXCAR_OK;
}

static void log_enqueued(const boxcar_store *store, const struct delivery_batch *batch) {
    for (size_t i = 0; store_logs(store, BOXCAR_LOG_WARN) && i < batch->count; i++) {
        log_key(store, BOXCAR_LOG_INFO, "inbox_enqueue", &batch->origins[i],
                batch->enqueued[i].duplicate ? "message is known already" : "message enqueued");
        warn_of_hash(store, &batch->origins[i], batch->enqueued[i].hash_mismatch);
    }
}

static boxcar_status enqueue(boxcar_store *store, struct delivery_batch *batch,
                             boxcar_inbox_enqueued *ret_enqueued, boxcar_error *err) {
    boxcar_status status =
        store->ops->inbox_enqueue(store, batch->messages, batch->origins, batch->count, batch->enqueued, err);

    if (status != BOXCAR_OK)
        return status;
    log_enqueued(store, batch);
    if (ret_enqueued)
        memcpy(ret_enqueued, batch->enqueued, batch->count * sizeof(*ret_enqueued));
    return BOXCAR_OK;
}

boxcar_status boxcar_inbox_enqueue(boxcar_store *store, const boxcar_new_inbox_message *message,
                                   boxcar_inbox_enqueued *ret_enqueued, boxcar_error *err) {
    boxcar_new_message checked;
    struct inbox_origin origin;
    boxcar_inbox_enqueued enqueued;
    struct delivery_batch batch = {
        .messages = &checked, .origins = &origin, .enqueued = &enqueued, .count = 1};
    boxcar_status status = check_given(store, "store", err);

    if (status == BOXCAR_OK)
        status = check_given(message, "message", err);
    if (status == BOXCAR_OK)
        status = read_message(message, &checked, &origin, err);
    return status == BOXCAR_OK ? enqueue(store, &batch, ret_enqueued, err) : status;
}

static boxcar_status check_messages(const boxcar_store *store, const boxcar_new_inbox_message *messages,
                                    size_t count, boxcar_error *err) {
    boxcar_status status = check_given(store, "store", err);

    if (status == BOXCAR_OK && count > 0 && !messages)
        return error_invalid(err, "messages", "messages is NULL: give `count` of them");
    if (status == BOXCAR_OK && count > LIMITS_COUNT_MAX)
        return error_invalid(err, "count", "count is too large: give at most %zu", LIMITS_COUNT_MAX);
    return status;
}

boxcar_status boxcar_inbox_enqueue_many(boxcar_store *store, const boxcar_new_inbox_message *messages,
                                        size_t count, boxcar_inbox_enqueued *ret_enqueued,
                                        boxcar_error *err) {
    CLEANUP(release) struct delivery_batch batch = {.arena = ARENA_INIT};
    boxcar_status status = check_messages(store, messages, count, err);

    if (status != BOXCAR_OK || count == 0)
        return status;
    status = reserve(&batch, count, err);
    if (status == BOXCAR_OK)
        status = read_messages(messages, &batch, err);
    return status == BOXCAR_OK ? enqueue(store, &batch, ret_enqueued, err) : status;
}

/* ---- asking ---- */

/* The two questions have one shape. */
typedef boxcar_status ask_fn(struct boxcar_store *store, const struct inbox_origin *origin, bool *ret_answer,
                             bool *ret_hash_mismatch, boxcar_error *err);

struct question {
    const char *event;
    const char *yes, *no;
    ask_fn *ask;
};

static boxcar_status ask(boxcar_store *store, const struct question *question,
                         const struct inbox_origin *origin, bool *ret_answer, bool *ret_hash_mismatch,
                         boxcar_error *err) {
    bool mismatch = false;
    boxcar_status status = question->ask(store, origin, ret_answer, &mismatch, err);

    if (status != BOXCAR_OK)
        return status;
    log_key(store, BOXCAR_LOG_DEBUG, question->event, origin, *ret_answer ? question->yes : question->no);
    warn_of_hash(store, origin, mismatch);
    if (ret_hash_mismatch)
        *ret_hash_mismatch = mismatch;
    return BOXCAR_OK;
}

static boxcar_status check_question(const boxcar_store *store, const bool *ret_answer, const char *output,
                                    boxcar_error *err) {
    boxcar_status status = check_given(store, "store", err);

    return status == BOXCAR_OK ? check_given(ret_answer, output, err) : status;
}

boxcar_status boxcar_inbox_already_processed(boxcar_store *store, boxcar_inbox_key key,
                                             boxcar_str content_hash, bool *ret_processed,
                                             bool *ret_hash_mismatch, boxcar_error *err) {
    struct inbox_origin origin;
    boxcar_status status = check_question(store, ret_processed, "ret_processed", err);

    if (status == BOXCAR_OK)
        status = read_origin(key, content_hash, &origin, err);
    if (status != BOXCAR_OK)
        return status;
    const struct question question = {.event = "inbox_check",
                                      .yes = "message has been processed",
                                      .no = "message has not been processed",
                                      .ask = store->ops->inbox_look};
    return ask(store, &question, &origin, ret_processed, ret_hash_mismatch, err);
}

boxcar_status boxcar_inbox_accept(boxcar_store *store, boxcar_inbox_key key, boxcar_str content_hash,
                                  bool *ret_is_new, bool *ret_hash_mismatch, boxcar_error *err) {
    struct inbox_origin origin;
    boxcar_status status = check_question(store, ret_is_new, "ret_is_new", err);

    if (status == BOXCAR_OK)
        status = read_origin(key, content_hash, &origin, err);
    if (status != BOXCAR_OK)
        return status;
    const struct question question = {.event = "inbox_accept",
                                      .yes = "message accepted",
                                      .no = "message is known already",
                                      .ask = store->ops->inbox_accept};
    return ask(store, &question, &origin, ret_is_new, ret_hash_mismatch, err);
}

boxcar_status boxcar_inbox_find(boxcar_store *store, boxcar_inbox_key key,
                                boxcar_inbox_receipt_list **ret_list, boxcar_error *err) {
    boxcar_status status = check_given(store, "store", err);

    if (status == BOXCAR_OK)
        status = check_given(ret_list, "ret_list", err);
    if (status == BOXCAR_OK)
        status = limits_check_inbox_key(key, BOXCAR_NO_STR, err);
    return status == BOXCAR_OK ? store->ops->inbox_find(store, key, ret_list, err) : status;
}

/* ---- reviving ---- */

static boxcar_status check_reason(boxcar_str reason, boxcar_error *err) {
    if (str_is_empty(reason))
        return error_invalid(err, "reason", "reason is empty: say why the message is revived");
    return limits_check_text(reason, "reason", SIZE_MAX, err);
}

static boxcar_status replay(boxcar_store *store, boxcar_work_id work_id, boxcar_str reason, bool *ret_done,
                            boxcar_error *err) {
    boxcar_message_ref ref = {.work_id = work_id};
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    boxcar_work_id cursor = {0};
    int64_t count = 0;
    boxcar_status status;

    filter.box = BOXCAR_INBOX;
    filter.refs = &ref;
    filter.ref_count = 1;
    status = store->ops->dead_act(store, &filter, DEAD_REPLAY, utf8_cut(reason, BOXCAR_ERROR_TEXT_MAX), 1,
                                  &cursor, &count, err);
    if (status == BOXCAR_OK)
        *ret_done = count > 0;
    return status;
}

static boxcar_status look_up(boxcar_store *store, boxcar_message_ref ref, boxcar_work_id *ret_work_id,
                             boxcar_message_status *ret_status, boxcar_error *err) {
    struct boxcar_message_list *list;
    boxcar_status status = store->ops->find(store, BOXCAR_INBOX, ref, &list, err);

    if (status != BOXCAR_OK)
        return status;
    *ret_work_id = list->items[0].work_id;
    *ret_status = list->items[0].status;
    boxcar_message_list_free(list);
    return BOXCAR_OK;
}

/* It may change its status between our look and our step: then we look again. */
static boxcar_status revive(boxcar_store *store, boxcar_message_ref ref, boxcar_str reason,
                            boxcar_work_id *ret_work_id, boxcar_error *err) {
    boxcar_message_status was = BOXCAR_READY;
    bool done = false;

    for (int i = 0; i < REVIVE_TRIES && !done; i++) {
        boxcar_status status = look_up(store, ref, ret_work_id, &was, err);

        if (status == BOXCAR_OK && was != BOXCAR_FAILED)
            break;
        if (status == BOXCAR_OK)
            status = replay(store, *ret_work_id, reason, &done, err);
        if (status != BOXCAR_OK)
            return status;
    }
    return done ? BOXCAR_OK
                : error_set(err, BOXCAR_E_CONFLICT,
                            "the message is %s, not dead: only dead letters are revived",
                            boxcar_message_status_name(was));
}

boxcar_status boxcar_inbox_revive(boxcar_store *store, boxcar_message_ref ref, boxcar_str reason,
                                  boxcar_work_id *ret_work_id, boxcar_error *err) {
    boxcar_work_id work_id;
    boxcar_status status = check_given(store, "store", err);

    if (status == BOXCAR_OK)
        status = limits_check_ref(ref, "ref", err);
    if (status == BOXCAR_OK)
        status = check_reason(reason, err);
    if (status == BOXCAR_OK)
        status = revive(store, ref, reason, &work_id, err);
    if (status != BOXCAR_OK)
        return status;
    store_log(store, BOXCAR_LOG_INFO, "inbox_revive", NULL, 0, "revived a dead letter of the inbox");
    if (ret_work_id)
        *ret_work_id = work_id;
    return BOXCAR_OK;
}
