#include "inbox_log.h"

void inbox_log_key(const struct boxcar_store *store, boxcar_log_level level, const char *event,
                   const struct inbox_origin *origin, const char *text) {
    char message_id[BOXCAR_UUID_TEXT_SIZE];

    if (!store_logs(store, level))
        return;
    boxcar_uuid_format(origin->message_id.uuid, message_id);
    const boxcar_log_field fields[] = {{"source", origin->source},
                                       {"external_id", origin->external_id},
                                       {"message_id", boxcar_str_of(message_id)}};
    store_log(store, level, event, fields, sizeof(fields) / sizeof(fields[0]), "%s", text);
}

void inbox_log_hash(const struct boxcar_store *store, const struct inbox_origin *origin, bool mismatch) {
    if (mismatch)
        inbox_log_key(store, BOXCAR_LOG_WARN, "inbox_hash_mismatch", origin,
                      "a message came again with another content hash; the first one stays");
}

void inbox_log_enqueued(const struct boxcar_store *store, boxcar_new_message_list messages,
                        const boxcar_enqueued *enqueued) {
    if (!store_logs(store, BOXCAR_LOG_WARN))
        return;
    for (size_t i = 0; i < messages.count; i++) {
        struct inbox_origin origin = inbox_origin_of(&messages.items[i]);

        inbox_log_key(store, BOXCAR_LOG_INFO, "inbox_enqueue", &origin,
                      enqueued[i].duplicate ? "message is known already" : "message enqueued");
        inbox_log_hash(store, &origin, enqueued[i].hash_mismatch);
    }
}
