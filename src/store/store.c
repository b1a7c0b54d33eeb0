#include "store.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"

void store_log(const struct boxcar_store *store, boxcar_log_level level, const char *event,
               const boxcar_log_field *fields, size_t field_count, const char *format, ...) {
    boxcar_log_record record = {.level = level,
                                .event = event,
                                .store_id = store->id ? store->id : "",
                                .fields = fields,
                                .field_count = field_count};
    char text[512];
    va_list args;

    if (!store_logs(store, level))
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    record.text = text;
    store->log(store->log_context, &record);
}

void store_log_replayed_steps(const struct boxcar_store *store, int64_t count) {
    if (count > 0)
        store_log(store, BOXCAR_LOG_WARN, "replay", NULL, 0,
                  "%lld of the replayed messages are steps that joins have counted already: their joins stay "
                  "as they are",
                  (long long)count);
}

boxcar_status store_check_upgradable(int schema_version, boxcar_error *err) {
    if (schema_version == 0 || schema_version >= STORE_OLDEST_UPGRADE)
        return BOXCAR_OK;
    return error_set(
        err, BOXCAR_E_VERSION,
        "the store has schema version %d, and this program upgrades only stores of version %d and newer: "
        "first run `boxcar init` of a Boxcar from before the first release (docs/operations.md, Upgrades)",
        schema_version, STORE_OLDEST_UPGRADE);
}
