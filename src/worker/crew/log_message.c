#include "log_message.h"

#include <inttypes.h>
#include <stdio.h>

void log_message(const struct boxcar_store *logger, boxcar_log_level level, const char *event,
                 const boxcar_message *message, boxcar_str error, const char *text) {
    char work_id[24], attempt[16], message_id[BOXCAR_UUID_TEXT_SIZE];
    boxcar_log_field fields[6];
    size_t count = 0;

    if (!store_logs(logger, level))
        return;
    snprintf(work_id, sizeof(work_id), "%" PRId64, message->work_id.value);
    snprintf(attempt, sizeof(attempt), "%d", message->retry_count + 1);
    boxcar_uuid_format(message->message_id.uuid, message_id);
    fields[count++] = (boxcar_log_field){"topic", message->topic};
    fields[count++] = (boxcar_log_field){"message_id", boxcar_str_of(message_id)};
    fields[count++] = (boxcar_log_field){"work_id", boxcar_str_of(work_id)};
    fields[count++] = (boxcar_log_field){"attempt", boxcar_str_of(attempt)};
    if (message->correlation_id.data)
        fields[count++] = (boxcar_log_field){"correlation_id", message->correlation_id};
    if (error.data)
        fields[count++] = (boxcar_log_field){"error", error};
    store_log(logger, level, event, fields, count, "%s", text);
}

void log_number(const struct boxcar_store *logger, boxcar_log_level level, const char *event,
                const char *name, int64_t number, const char *text) {
    char digits[24];
    boxcar_log_field field = {name, BOXCAR_NO_STR};

    snprintf(digits, sizeof(digits), "%" PRId64, number);
    field.value = boxcar_str_of(digits);
    store_log(logger, level, event, &field, 1, "%s", text);
}
