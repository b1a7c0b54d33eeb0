#include "log_message.h"

#include <inttypes.h>
#include <stdio.h>

void log_message(const struct boxcar_store *logger, boxcar_log_level level, const char *event,
                 const boxcar_message *message, boxcar_str error, const char *text) {
    if (!store_logs(logger, level))
        return;
    char work_id[24], attempt[16], message_id[BOXCAR_UUID_TEXT_SIZE];
    snprintf(work_id, sizeof(work_id), "%" PRId64, message->work_id.value);
    snprintf(attempt, sizeof(attempt), "%d", message->retry_count + 1);
    boxcar_uuid_format(message->message_id.uuid, message_id);
    boxcar_log_field fields[6] = {{"topic", message->topic},
                                  {"message_id", boxcar_str_of(message_id)},
                                  {"work_id", boxcar_str_of(work_id)},
                                  {"attempt", boxcar_str_of(attempt)}};
    size_t count = 4;
    if (message->correlation_id.data)
        fields[count++] = (boxcar_log_field){"correlation_id", message->correlation_id};
    if (error.data)
        fields[count++] = (boxcar_log_field){"error", error};
    store_log(logger, level, event, fields, count, "%s", text);
}

void log_number(const struct boxcar_store *logger, boxcar_log_level level, const char *event,
                const char *name, int64_t number, const char *text) {
    char digits[24];
    snprintf(digits, sizeof(digits), "%" PRId64, number);
    const boxcar_log_field field = {name, boxcar_str_of(digits)};
    store_log(logger, level, event, &field, 1, "%s", text);
}
