#include "join_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static void log_ended(const struct boxcar_store *store, const boxcar_join *join) {
    char join_id[BOXCAR_UUID_TEXT_SIZE], expected[24], completed[24], failed[24];
    const char *status = boxcar_join_status_name(join->status);

    boxcar_uuid_format(join->join_id.uuid, join_id);
    snprintf(expected, sizeof(expected), "%" PRId64, join->expected_steps);
    snprintf(completed, sizeof(completed), "%" PRId64, join->completed_steps);
    snprintf(failed, sizeof(failed), "%" PRId64, join->failed_steps);
    const boxcar_log_field fields[] = {{"join_id", boxcar_str_of(join_id)},
                                       {"status", boxcar_str_of(status)},
                                       {"expected_steps", boxcar_str_of(expected)},
                                       {"completed_steps", boxcar_str_of(completed)},
                                       {"failed_steps", boxcar_str_of(failed)},
                                       {"reason", boxcar_str_of(boxcar_join_reason_name(join->reason))}};
    size_t count = sizeof(fields) / sizeof(fields[0]) - (join->reason == BOXCAR_JOIN_REASON_NONE);
    store_log(store, BOXCAR_LOG_INFO, "join_end", fields, count,
              "join is %s: %s of %s steps completed, %s failed", status, completed, expected, failed);
}

boxcar_status ended_list_add(struct ended_list *list, const boxcar_join *join, boxcar_error *err) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 8 : list->capacity * 2;
        boxcar_join *items = realloc(list->items, capacity * sizeof(*items));

        if (!items)
            return error_no_memory(err);
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count] = *join;
    list->items[list->count].grouping_key = list->items[list->count].metadata = BOXCAR_NO_STR;
    list->count++;
    return BOXCAR_OK;
}

static bool is_held(const struct ended_list *held, const boxcar_join *join) {
    for (size_t i = 0; i < held->count; i++)
        if (memcmp(held->items[i].join_id.uuid.bytes, join->join_id.uuid.bytes,
                   sizeof(join->join_id.uuid.bytes)) == 0)
            return true;
    return false;
}

/* PostgreSQL tells of every join that its transaction has ended, also of those that an earlier call told of.
 * That there is no memory for a record must not make the call a failure. */
void join_log_ended(struct boxcar_store *store, const boxcar_join *joins, size_t count) {
    for (size_t i = 0; store_logs(store, BOXCAR_LOG_INFO) && i < count; i++) {
        if (!store->holds_ends)
            log_ended(store, &joins[i]);
        else if (!is_held(&store->ends, &joins[i]))
            (void)ended_list_add(&store->ends, &joins[i], NULL);
    }
}

void join_log_hold(struct boxcar_store *store) { store->holds_ends = true; }

void join_log_release(struct boxcar_store *store, bool committed) {
    struct ended_list held = store->ends;

    store->holds_ends = false;
    store->ends = (struct ended_list){0};
    if (committed)
        join_log_ended(store, held.items, held.count);
    free(held.items);
}

void join_log_attached(const struct boxcar_store *store, boxcar_join_id join_id,
                       boxcar_message_id message_id) {
    char join[BOXCAR_UUID_TEXT_SIZE], message[BOXCAR_UUID_TEXT_SIZE];

    if (!store_logs(store, BOXCAR_LOG_DEBUG))
        return;
    boxcar_uuid_format(join_id.uuid, join);
    boxcar_uuid_format(message_id.uuid, message);
    const boxcar_log_field fields[] = {{"join_id", boxcar_str_of(join)},
                                       {"message_id", boxcar_str_of(message)}};
    store_log(store, BOXCAR_LOG_DEBUG, "join_attach", fields, 2, "message attached to a join");
}
