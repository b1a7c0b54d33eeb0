#include "store.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "base/options.h"
#include "base/utf8.h"
#include "core/limits/limits.h"

#define DEFAULT_SCHEMA "boxcar"
#define BUSY_TIMEOUT_MS_DEFAULT 30000
#define TIMEOUT_MS_MAX (24 * 60 * 60 * 1000)

static boxcar_status check_durability(boxcar_durability durability, boxcar_error *err) {
    if (durability != BOXCAR_DURABILITY_FULL && durability != BOXCAR_DURABILITY_NORMAL)
        return error_invalid(err, "durability",
                             "durability is unknown: give BOXCAR_DURABILITY_FULL or _NORMAL");
    return BOXCAR_OK;
}

static boxcar_status check_timeout(const char *argument, int64_t timeout_ms, boxcar_error *err) {
    if (timeout_ms < 0 || timeout_ms > TIMEOUT_MS_MAX)
        return error_invalid(err, argument, "%s is out of range: give 0 to %d", argument, TIMEOUT_MS_MAX);
    return BOXCAR_OK;
}

boxcar_status store_options_read(const boxcar_store_options *given, boxcar_store_options *ret_options,
                                 boxcar_error *err) {
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_status status = options_read(&options, sizeof(options), given, "options", err);

    if (status == BOXCAR_OK)
        status = limits_check_text(options.url, "url", SIZE_MAX, err);
    if (status == BOXCAR_OK)
        status = limits_check_schema_name(options.schema, err);
    if (status == BOXCAR_OK)
        status = check_durability(options.durability, err);
    if (status == BOXCAR_OK)
        status = check_timeout("busy_timeout_ms", options.busy_timeout_ms, err);
    if (status == BOXCAR_OK)
        status = check_timeout("answer_timeout_ms", options.answer_timeout_ms, err);
    if (status != BOXCAR_OK)
        return status;
    if (str_is_absent(options.schema))
        options.schema = BOXCAR_STR(DEFAULT_SCHEMA);
    if (options.busy_timeout_ms == 0)
        options.busy_timeout_ms = BUSY_TIMEOUT_MS_DEFAULT;
    *ret_options = options;
    return BOXCAR_OK;
}

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
                  "%lld of the replayed messages are steps that joins have counted already: their joins stay as they are",
                  (long long)count);
}

boxcar_status store_check_upgradable(int schema_version, boxcar_error *err) {
    if (schema_version == 0 || schema_version >= STORE_OLDEST_UPGRADE)
        return BOXCAR_OK;
    return error_set(err, BOXCAR_E_VERSION,
                     "the store has schema version %d, and this program upgrades only stores of version %d and newer: "
                     "first run `boxcar init` of a Boxcar from before the first release (docs/operations.md, Upgrades)",
                     schema_version, STORE_OLDEST_UPGRADE);
}
