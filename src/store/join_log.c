#include "join_log.h"

#include <inttypes.h>
#include <stdio.h>

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

    boxcar_join_id_format(join->join_id, join_id);
    fields[JOIN_ID].value = boxcar_str_of(join_id);
    for (int i = 0; i < 3; i++) {
        snprintf(numbers[i], sizeof(numbers[i]), "%" PRId64, steps[i]);
        fields[EXPECTED + i].value = boxcar_str_of(numbers[i]);
    }
    store_log(store, BOXCAR_LOG_INFO, "join_end", fields,
              join->reason == BOXCAR_JOIN_REASON_NONE ? REASON : FIELDS,
              "join is %s: %s of %s steps completed, %s failed", status, numbers[1], numbers[0], numbers[2]);
}

void join_log_ended(const struct boxcar_store *store, const boxcar_join *joins, size_t count) {
    for (size_t i = 0; store_logs(store, BOXCAR_LOG_INFO) && i < count; i++)
        log_ended(store, &joins[i]);
}

void join_log_attached(const struct boxcar_store *store, boxcar_join_id join_id,
                       boxcar_message_id message_id) {
    char join[BOXCAR_UUID_TEXT_SIZE], message[BOXCAR_UUID_TEXT_SIZE];
    boxcar_log_field fields[] = {{"join_id", BOXCAR_NO_STR}, {"message_id", BOXCAR_NO_STR}};

    if (!store_logs(store, BOXCAR_LOG_DEBUG))
        return;
    boxcar_join_id_format(join_id, join);
    boxcar_message_id_format(message_id, message);
    fields[0].value = boxcar_str_of(join);
    fields[1].value = boxcar_str_of(message);
    store_log(store, BOXCAR_LOG_DEBUG, "join_attach", fields, 2, "message attached to a join");
}
