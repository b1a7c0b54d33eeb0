#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/batching.h"
#include "api/check.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "core/limits.h"
#include "store/join_log.h"
#include "store/store.h"

#define AUTO_RESULT CLEANUP(batch_result_release)

static boxcar_status check_messages(const boxcar_new_message *messages, size_t count, boxcar_error *err) {
    char where[40];

    if (count > 0 && !messages)
        return error_invalid(err, "messages", "messages is NULL: give `count` of them");
    if (count > LIMITS_COUNT_MAX)
        return error_invalid(err, "count", "count is too large: give at most %zu", LIMITS_COUNT_MAX);
    for (size_t i = 0; i < count; i++) {
        boxcar_status status = limits_check_new_message(&messages[i], "", err);
        if (status == BOXCAR_OK)
            continue;
        snprintf(where, sizeof(where), "messages[%zu].", i);
        return error_locate(status, where, err);
    }
    return BOXCAR_OK;
}

static boxcar_str empty_is_absent(boxcar_str text) { return str_is_empty(text) ? BOXCAR_NO_STR : text; }

/* False when a key's digest could not be computed. */
static bool normalize(boxcar_new_message *message) {
    message->correlation_id = empty_is_absent(message->correlation_id);
    message->stream = empty_is_absent(message->stream);
    if (str_is_absent(message->key))
        return true;
    message->message_id = boxcar_message_id_of_key(message->key);
    message->key = BOXCAR_NO_STR;
    return !boxcar_message_id_is_none(message->message_id);
}

static boxcar_status give_ids(struct arena *arena, boxcar_new_message *messages, size_t count, size_t missing,
                              boxcar_error *err) {
    uint8_t(*ids)[16] = arena_alloc_array(arena, missing, sizeof(*ids));

    if (!ids)
        return error_no_memory(err);
    if (!uuid_new_v7(ids, missing))
        return error_set(err, BOXCAR_E_UNAVAILABLE, "the system gives no randomness for message ids");
    for (size_t i = 0; i < count; i++) {
        if (boxcar_message_id_is_none(messages[i].message_id))
            memcpy(messages[i].message_id.bytes, ids[--missing], sizeof(ids[0]));
    }
    return BOXCAR_OK;
}

boxcar_status batching_add_messages(struct arena *arena, const boxcar_new_message *messages, size_t count,
                                    struct batch_part *part, boxcar_error *err) {
    boxcar_new_message *copies = arena_alloc_array(arena, count, sizeof(*copies));
    size_t missing = 0;

    if (!copies)
        return error_no_memory(err);
    memcpy(copies, messages, count * sizeof(*copies));
    for (size_t i = 0; i < count; i++) {
        if (!normalize(&copies[i]))
            return error_no_memory(err);
        missing += boxcar_message_id_is_none(copies[i].message_id);
    }
    part->messages = copies;
    part->message_count = count;
    part->fresh_ids = missing == count;
    return missing > 0 ? give_ids(arena, copies, count, missing, err) : BOXCAR_OK;
}

static void log_enqueued(const boxcar_store *store, const boxcar_new_message *message,
                         const boxcar_enqueued *enqueued) {
    char work_id[24], message_id[BOXCAR_UUID_TEXT_SIZE];
    boxcar_log_field fields[] = {{"topic", message->topic},
                                 {"correlation_id", message->correlation_id},
                                 {"message_id", BOXCAR_NO_STR},
                                 {"work_id", BOXCAR_NO_STR}};

    boxcar_message_id_format(enqueued->message_id, message_id);
    snprintf(work_id, sizeof(work_id), "%" PRId64, enqueued->work_id.value);
    fields[2].value = boxcar_str_of(message_id);
    fields[3].value = boxcar_str_of(work_id);
    store_log(store, BOXCAR_LOG_INFO, "enqueue", fields, sizeof(fields) / sizeof(fields[0]), "%s",
              enqueued->duplicate ? "message is already there" : "message enqueued");
}

void batching_log_enqueued(const boxcar_store *store, const struct batch_part *part,
                           const struct part_result *result) {
    if (!store_logs(store, BOXCAR_LOG_INFO))
        return;
    for (size_t i = 0; i < part->message_count; i++) {
        log_enqueued(store, &part->messages[i], &result->enqueued[i]);
        if (!boxcar_join_id_is_none(part->messages[i].join_id))
            join_log_attached(store, part->messages[i].join_id, result->enqueued[i].message_id);
    }
}

static boxcar_status enqueue_checked(boxcar_store *store, const boxcar_new_message *messages, size_t count,
                                     boxcar_enqueued *ret_enqueued, boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    AUTO_RESULT struct batch_result result = {.arena = ARENA_INIT};
    struct batch batch = {.sent_before = false};
    struct batch_part *part = &batch.parts[BOXCAR_OUTBOX];
    boxcar_status status = batching_add_messages(&arena, messages, count, part, err);

    if (status == BOXCAR_OK)
        status = store->ops->process(store, &batch, &result, err);
    if (status != BOXCAR_OK)
        return status;
    batching_log_enqueued(store, part, &result.parts[BOXCAR_OUTBOX]);
    join_log_ended(store, result.ended, result.ended_count);
    if (ret_enqueued)
        memcpy(ret_enqueued, result.parts[BOXCAR_OUTBOX].enqueued, count * sizeof(*ret_enqueued));
    return BOXCAR_OK;
}

boxcar_status boxcar_enqueue(boxcar_store *store, const boxcar_new_message *message,
                             boxcar_enqueued *ret_enqueued, boxcar_error *err) {
    boxcar_status status = check_given(store, "store", err);

    if (status == BOXCAR_OK)
        status = check_given(message, "message", err);
    if (status == BOXCAR_OK)
        status = limits_check_new_message(message, "", err);
    return status == BOXCAR_OK ? enqueue_checked(store, message, 1, ret_enqueued, err) : status;
}

boxcar_status boxcar_enqueue_many(boxcar_store *store, const boxcar_new_message *messages, size_t count,
                                  boxcar_enqueued *ret_enqueued, boxcar_error *err) {
    boxcar_status status = check_given(store, "store", err);

    if (status == BOXCAR_OK)
        status = check_messages(messages, count, err);
    if (status != BOXCAR_OK || count == 0)
        return status;
    return enqueue_checked(store, messages, count, ret_enqueued, err);
}

static void log_count(const boxcar_store *store, boxcar_log_level level, const char *event, int64_t count) {
    char text[24];
    boxcar_log_field field = {"count", BOXCAR_NO_STR};

    if (!store_logs(store, level))
        return;
    snprintf(text, sizeof(text), "%" PRId64, count);
    field.value = boxcar_str_of(text);
    store_log(store, level, event, &field, 1, "%s: %s messages", event, text);
}

static boxcar_status claim_checked(boxcar_store *store, boxcar_box box, const boxcar_claim_options *options,
                                   boxcar_message_list **ret_list, boxcar_error *err) {
    AUTO_RESULT struct batch_result result = {.arena = ARENA_INIT};
    struct batch batch = {.owner = options->owner};
    boxcar_message_list *list;
    boxcar_status status;

    batch.parts[box] = (struct batch_part){.claim_size = options->batch_size,
                                           .claim_lease_ms = options->lease_ms,
                                           .topics = options->topics,
                                           .topic_count = options->topic_count};
    status = store->ops->process(store, &batch, &result, err);
    if (status != BOXCAR_OK)
        return status;
    join_log_ended(store, result.ended, result.ended_count);
    list = batch_result_into_list(&result, box);
    if (!list)
        return error_no_memory(err);
    log_count(store, BOXCAR_LOG_DEBUG, "claim", (int64_t)list->count);
    *ret_list = list;
    return BOXCAR_OK;
}

static boxcar_status claim(boxcar_store *store, boxcar_box box, const boxcar_claim_options *options,
                           boxcar_message_list **ret_list, boxcar_error *err) {
    boxcar_claim_options checked = BOXCAR_CLAIM_OPTIONS_INIT;
    boxcar_status status = check_given(store, "store", err);

    if (status == BOXCAR_OK)
        status = check_given(ret_list, "ret_list", err);
    if (status == BOXCAR_OK)
        status = options_read(&checked, sizeof(checked), options, "options", err);
    if (status == BOXCAR_OK)
        status = limits_check_claim(&checked, err);
    return status == BOXCAR_OK ? claim_checked(store, box, &checked, ret_list, err) : status;
}

boxcar_status boxcar_claim(boxcar_store *store, const boxcar_claim_options *options,
                           boxcar_message_list **ret_list, boxcar_error *err) {
    return claim(store, BOXCAR_OUTBOX, options, ret_list, err);
}

boxcar_status boxcar_inbox_claim(boxcar_store *store, const boxcar_claim_options *options,
                                 boxcar_message_list **ret_list, boxcar_error *err) {
    return claim(store, BOXCAR_INBOX, options, ret_list, err);
}

static boxcar_status reap(boxcar_store *store, boxcar_box box, int64_t *ret_count, boxcar_error *err) {
    AUTO_RESULT struct batch_result result = {.arena = ARENA_INIT};
    struct batch batch = {0};
    int64_t reaped;
    boxcar_status status = check_given(store, "store", err);

    batch.parts[box].reap = true;
    if (status == BOXCAR_OK)
        status = store->ops->process(store, &batch, &result, err);
    if (status != BOXCAR_OK)
        return status;
    reaped = result.parts[box].reaped;
    if (reaped > 0)
        log_count(store, BOXCAR_LOG_INFO, "reap", reaped);
    join_log_ended(store, result.ended, result.ended_count);
    if (ret_count)
        *ret_count = reaped;
    return BOXCAR_OK;
}

boxcar_status boxcar_reap(boxcar_store *store, int64_t *ret_count, boxcar_error *err) {
    return reap(store, BOXCAR_OUTBOX, ret_count, err);
}

boxcar_status boxcar_inbox_reap(boxcar_store *store, int64_t *ret_count, boxcar_error *err) {
    return reap(store, BOXCAR_INBOX, ret_count, err);
}
