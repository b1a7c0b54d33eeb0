#include "message_log.h"

#include <inttypes.h>
#include <stdio.h>

#include "join_log.h"

static void log_enqueued(const struct boxcar_store *store, const boxcar_new_message *message,
                         const boxcar_enqueued *enqueued) {
    char work_id[24], message_id[BOXCAR_UUID_TEXT_SIZE];

    boxcar_uuid_format(enqueued->message_id.uuid, message_id);
    snprintf(work_id, sizeof(work_id), "%" PRId64, enqueued->work_id.value);
    const boxcar_log_field fields[] = {{"topic", message->topic},
                                       {"correlation_id", message->correlation_id},
                                       {"message_id", boxcar_str_of(message_id)},
                                       {"work_id", boxcar_str_of(work_id)}};
    store_log(store, BOXCAR_LOG_INFO, "enqueue", fields, sizeof(fields) / sizeof(fields[0]), "%s",
              enqueued->duplicate ? "message is already there" : "message enqueued");
}

void message_log_enqueued(const struct boxcar_store *store, boxcar_new_message_list messages,
                          const boxcar_enqueued *enqueued) {
    if (!store_logs(store, BOXCAR_LOG_INFO))
        return;
    for (size_t i = 0; i < messages.count; i++) {
        log_enqueued(store, &messages.items[i], &enqueued[i]);
        if (!boxcar_uuid_is_none(messages.items[i].join_id.uuid))
            join_log_attached(store, messages.items[i].join_id, enqueued[i].message_id);
    }
}

void message_log_damaged(const struct boxcar_store *store, size_t count, boxcar_work_id first,
                         const char *field) {
    char work_id[24];

    snprintf(work_id, sizeof(work_id), "%" PRId64, first.value);
    const boxcar_log_field fields[] = {{"work_id", boxcar_str_of(work_id)}, {"field", boxcar_str_of(field)}};
    store_log(store, BOXCAR_LOG_WARN, "damaged", fields, sizeof(fields) / sizeof(fields[0]),
              "%zu damaged %s a dead letter now, not handed out: the %s of message %s is not UTF-8, another "
              "program has changed the row",
              count, count == 1 ? "message is" : "messages are each", field, work_id);
}
