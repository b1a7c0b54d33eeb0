#include "store.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "base/utf8.h"

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

boxcar_status message_rows_read(struct boxcar_store *store, const struct message_choice *choice,
                                struct message_rows **ret_list, boxcar_error *err) {
    boxcar_box reader = choice->filter ? choice->filter->box : choice->dead ? choice->dead->box : choice->box;

    TRY(store->ops->message_read(store, choice, ret_list, err));
    for (size_t i = 0; i < (*ret_list)->count; i++)
        (*ret_list)->items[i].reader = reader;
    return BOXCAR_OK;
}

void store_log_replayed_steps(const struct boxcar_store *store, int64_t count) {
    if (count > 0)
        store_log(store, BOXCAR_LOG_WARN, "replay", NULL, 0,
                  "%lld of the replayed messages are steps that joins have counted already: their joins stay "
                  "as they are",
                  (long long)count);
}

/* Names the argument that every caller of such a number or name has in mind. */
static boxcar_status name_subscription(boxcar_status status, boxcar_error *err) {
    if (err)
        snprintf(err->argument, sizeof(err->argument), "subscription");
    return status;
}

boxcar_status store_refuse_reader(boxcar_box reader, boxcar_error *err) {
    return name_subscription(error_set(err, BOXCAR_E_NOT_FOUND,
                                       "subscription number %d does not exist: "
                                       "boxcar_subscription_find() tells the number of a name",
                                       reader),
                             err);
}

boxcar_status store_refuse_subscription(boxcar_str name, boxcar_error *err) {
    boxcar_str shown = utf8_cut(name, 100);

    return name_subscription(
        error_set(err, BOXCAR_E_NOT_FOUND,
                  "subscription \"%.*s\" does not exist: `boxcar subscription ls` lists them", (int)shown.len,
                  shown.data ? shown.data : ""),
        err);
}

boxcar_status store_refuse_policy(boxcar_str name, boxcar_error *err) {
    boxcar_str shown = utf8_cut(name, 100);

    error_set(err, BOXCAR_E_NOT_FOUND, "policy \"%.*s\" does not exist: `boxcar fanout ls` lists them",
              (int)shown.len, shown.data ? shown.data : "");
    if (err)
        snprintf(err->argument, sizeof(err->argument), "fanout");
    return BOXCAR_E_NOT_FOUND;
}

boxcar_status store_refuse_schedule(boxcar_str topic, boxcar_str work_key, boxcar_error *err) {
    boxcar_str shown = utf8_cut(topic, 100), key = utf8_cut(work_key, 100);

    error_set(
        err, BOXCAR_E_NOT_FOUND,
        "there is no schedule for topic \"%.*s\" and work key \"%.*s\": `boxcar schedule ls` lists them",
        (int)shown.len, shown.data ? shown.data : "", (int)key.len, key.data ? key.data : "");
    if (err)
        snprintf(err->argument, sizeof(err->argument), "schedule");
    return BOXCAR_E_NOT_FOUND;
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
