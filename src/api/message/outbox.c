#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/check.h"
#include "base/memory.h"
#include "base/options.h"
#include "batching.h"
#include "core/limits.h"
#include "flow/prepare.h"
#include "store/join_log.h"
#include "store/message_log.h"
#include "store/store.h"

#define AUTO_RESULT CLEANUP(batch_result_release)

boxcar_status batching_add_messages(struct arena *arena, const boxcar_new_message *messages, size_t count,
                                    struct batch_part *part, boxcar_error *err) {
    boxcar_new_message *copies = arena_alloc_array(arena, count, sizeof(*copies));
    struct message_key *keys = arena_alloc_array(arena, count, sizeof(*keys));
    bool has_keys = false;
    size_t missing = 0;

    if (!copies || !keys)
        return error_no_memory(err);
    memcpy(copies, messages, count * sizeof(*copies));
    for (size_t i = 0; i < count; i++) {
        if (!prepare_message(&copies[i], &keys[i]))
            return error_no_memory(err);
        missing += boxcar_uuid_is_none(copies[i].message_id.uuid);
        has_keys = has_keys || !boxcar_uuid_is_none(keys[i].id.uuid);
    }
    part->messages = copies;
    part->keys = has_keys ? keys : NULL;
    part->message_count = count;
    part->fresh_ids = missing == count && !has_keys;
    return prepare_ids(copies, count, missing, err);
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
    message_log_enqueued(store, part, &result.parts[BOXCAR_OUTBOX]);
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
        status = limits_check_new_messages(messages, count, err);
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
    struct message_rows *list;
    boxcar_status status;

    batch.parts[box] = (struct batch_part){.claim_size = options->batch_size,
                                           .claim_lease_ms = options->lease_ms,
                                           .claim_bytes = options->batch_bytes,
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
    return LIST_GIVE(list, ret_list, err);
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
