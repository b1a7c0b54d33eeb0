#include "join_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { JOIN_ID, STATUS, EXPECTED, COMPLETED, FAILED, REASON, FIELDS };

static void log_ended(const struct boxcar_store *store, const boxcar_join *join) {
    char join_id[BOXCAR_UUID_TEXT_SIZE], numbers[3][24];
    const int64_t steps[3] = {join->expected_steps, join->completed_steps, join->failed_steps};
    const char *status = boxcar_join_status_name(join->status);
    boxcar_log_field fields[FIELDS] = {
        [JOIN_ID] = {"join_id", BOXCAR_NO_STR},
        [STATUS] = {"status", boxcar_str_of(status)},
        [EXPECTED] = {"expected_steps", BOXCAR_NO_STR},
        [COMPLETED] = {"completed_steps", BOXCAR_NO_STR},
        [FAILED] = {"failed_steps", BOXCAR_NO_STR},
        [REASON] = {"reason", boxcar_str_of(boxcar_join_reason_name(join->reason))},
    };

    boxcar_uuid_format(join->join_id.uuid, join_id);
    fields[JOIN_ID].value = boxcar_str_of(join_id);
    for (int i = 0; i < 3; i++) {
        snprintf(numbers[i], sizeof(numbers[i]), "%" PRId64, steps[i]);
        fields[EXPECTED + i].value = boxcar_str_of(numbers[i]);
    }
    store_log(store, BOXCAR_LOG_INFO, "join_end", fields,
              join->reason == BOXCAR_JOIN_REASON_NONE ? REASON : FIELDS,
              "join is %s: %s of %s steps completed, %s failed", status, numbers[1], numbers[0], numbers[2]);
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
    boxcar_log_field fields[] = {{"join_id", BOXCAR_NO_STR}, {"message_id", BOXCAR_NO_STR}};

    if (!store_logs(store, BOXCAR_LOG_DEBUG))
        return;
    boxcar_uuid_format(join_id.uuid, join);
    boxcar_uuid_format(message_id.uuid, message);
    fields[0].value = boxcar_str_of(join);
    fields[1].value = boxcar_str_of(message);
    store_log(store, BOXCAR_LOG_DEBUG, "join_attach", fields, 2, "message attached to a join");
}
