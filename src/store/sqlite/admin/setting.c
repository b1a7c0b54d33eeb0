/* Settings: numbers and texts that differ from their defaults, one row each. */
#include "setting.h"

#include <string.h>

#include "base/utf8.h"
#include "boxcar/instance.h"
#include "core/limits/limits.h"
#include "core/names.h"
#include "core/setting.h"
#include "store/sqlite/connection/transaction.h"

/* The defaults, from the one table of settings. */
static double default_of(const char *name) {
    const struct setting *setting = setting_find(boxcar_str_of(name));
    double number = 0;

    if (setting != NULL)
        setting_parse(setting, boxcar_str_of(setting->default_value), &number, NULL);
    return number;
}

static void set_defaults(struct sqlite_settings *settings) {
    settings->max_attempts = (int)default_of("max_attempts");
    settings->payload_max = (int64_t)default_of("payload_bytes_max");
    settings->headers_max = (int64_t)default_of("headers_bytes_max");
    settings->retention_done_ms = (int64_t)default_of("retention_done");
    settings->retention_dead_ms = (int64_t)default_of("retention_dead");
    settings->retention_joins_ms = (int64_t)default_of("retention_joins");
    settings->retention_inbox_ms = (int64_t)default_of("retention_inbox");
    settings->wait_topic = BOXCAR_STR(WAIT_TOPIC_DEFAULT);
    settings->stream_policy = BOXCAR_STREAM_CONTINUE;
    settings->partition_count = (int)default_of("partition_count");
    settings->partitions_max = (int)default_of("partitions_per_instance_max");
    settings->partitions_fixed = false;
    settings->instance_timeout_ms = (int64_t)default_of("instance_timeout");
    settings->curve.base_ms = (int64_t)default_of("backoff_base");
    settings->curve.factor = default_of("backoff_factor");
    settings->curve.cap_ms = (int64_t)default_of("backoff_cap");
    settings->curve.jitter = default_of("backoff_jitter");
}

static void apply_number(struct sqlite_settings *settings, boxcar_str name, double number) {
    if (str_equal(name, BOXCAR_STR("max_attempts")))
        settings->max_attempts = (int)number;
    else if (str_equal(name, BOXCAR_STR("payload_bytes_max")))
        settings->payload_max = (int64_t)number;
    else if (str_equal(name, BOXCAR_STR("headers_bytes_max")))
        settings->headers_max = (int64_t)number;
    else if (str_equal(name, BOXCAR_STR("retention_done")))
        settings->retention_done_ms = (int64_t)number;
    else if (str_equal(name, BOXCAR_STR("retention_dead")))
        settings->retention_dead_ms = (int64_t)number;
    else if (str_equal(name, BOXCAR_STR("retention_joins")))
        settings->retention_joins_ms = (int64_t)number;
    else if (str_equal(name, BOXCAR_STR("retention_inbox")))
        settings->retention_inbox_ms = (int64_t)number;
    else if (str_equal(name, BOXCAR_STR("instance_timeout")))
        settings->instance_timeout_ms = (int64_t)number;
    else if (str_equal(name, BOXCAR_STR("partitions_per_instance_max")))
        settings->partitions_max = (int)number;
    else if (str_equal(name, BOXCAR_STR("backoff_base")))
        settings->curve.base_ms = (int64_t)number;
    else if (str_equal(name, BOXCAR_STR("backoff_factor")))
        settings->curve.factor = number;
    else if (str_equal(name, BOXCAR_STR("backoff_cap")))
        settings->curve.cap_ms = (int64_t)number;
    else if (str_equal(name, BOXCAR_STR("backoff_jitter")))
        settings->curve.jitter = number;
}

/* The number in use wins over the setting, which can only differ if it was edited by hand. */
static bool apply_partitions(struct sqlite_settings *settings, boxcar_str name, double number) {
    bool fixed = str_equal(name, BOXCAR_STR(SQLITE_PARTITIONS_IN_USE));

    if (!fixed && !str_equal(name, BOXCAR_STR("partition_count")))
        return false;
    if ((fixed || !settings->partitions_fixed) && number >= 1 && number <= BOXCAR_PARTITION_COUNT_MAX)
        settings->partition_count = (int)number;
    settings->partitions_fixed |= fixed;
    return true;
}

static double get_number(const struct query *query, int column) {
    return sqlite3_column_double(query->stmt, column);
}

static boxcar_status apply_row(struct sqlite_store *store, struct query *query, boxcar_error *err) {
    boxcar_str name = query_get_text(query, 0);

    if (str_equal(name, BOXCAR_STR("join_wait_topic")) && !query_is_null(query, 2))
        return query_copy_text(query, 2, &store->scratch, &store->settings.wait_topic, err);
    if (str_equal(name, BOXCAR_STR("stream_policy"))) {
        stream_policy_parse(query_get_text(query, 2), &store->settings.stream_policy);
        return BOXCAR_OK;
    }
    if (!apply_partitions(&store->settings, name, get_number(query, 1)))
        apply_number(&store->settings, name, get_number(query, 1));
    return BOXCAR_OK;
}

boxcar_status sqlite_settings_load(struct sqlite_store *store, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_SETTINGS);
    bool row = true;
    boxcar_status status = BOXCAR_OK;

    if (store->settings.loaded)
        return BOXCAR_OK;
    set_defaults(&store->settings);
    while (status == BOXCAR_OK && (status = query_step(&query, &row, err)) == BOXCAR_OK && row)
        status = apply_row(store, &query, err);
    store->settings.loaded = status == BOXCAR_OK;
    return status;
}

boxcar_status sqlite_check_sizes(struct sqlite_store *store, boxcar_str payload, boxcar_str headers,
                                 boxcar_error *err) {
    boxcar_status status;

    if (payload.len <= LIMITS_PAYLOAD_ALWAYS && headers.len <= LIMITS_HEADERS_ALWAYS)
        return BOXCAR_OK;
    status = sqlite_settings_load(store, err);
    return status == BOXCAR_OK ? limits_check_sizes(payload.len, store->settings.payload_max, headers.len,
                                                    store->settings.headers_max, err)
                               : status;
}

boxcar_status sqlite_check_metadata(struct sqlite_store *store, boxcar_str metadata, boxcar_error *err) {
    boxcar_status status;

    if (metadata.len <= LIMITS_PAYLOAD_ALWAYS)
        return BOXCAR_OK;
    status = sqlite_settings_load(store, err);
    return status == BOXCAR_OK ? limits_check_size(metadata.len, store->settings.payload_max, "metadata",
                                                   "payload_bytes_max", err)
                               : status;
}

boxcar_status sqlite_check_message_metadata(struct sqlite_store *store, boxcar_str metadata,
                                            boxcar_error *err) {
    boxcar_status status;

    if (metadata.len <= LIMITS_HEADERS_ALWAYS)
        return BOXCAR_OK;
    status = sqlite_settings_load(store, err);
    return status == BOXCAR_OK ? limits_check_size(metadata.len, store->settings.headers_max, "metadata",
                                                   "headers_bytes_max", err)
                               : status;
}

/* ---- for people ---- */

static boxcar_status add_value(struct query *query, struct setting_value_list *list, size_t capacity,
                               boxcar_error *err) {
    if (list->count == capacity) /* written by a newer program that knows more settings */
        return BOXCAR_OK;
    struct setting_value *value = &list->items[list->count++];
    value->number = get_number(query, 1);
    boxcar_status status = query_copy_text(query, 0, &list->arena, &value->name, err);
    return status == BOXCAR_OK ? query_copy_text(query, 2, &list->arena, &value->text, err) : status;
}

static boxcar_status read_all(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct setting_value_list *list = context;
    AUTO_QUERY struct query query = query_on(store, S_SETTINGS);
    bool row = true;
    boxcar_status status = BOXCAR_OK;

    arena_release(&list->arena);
    list->count = 0;
    list->items = arena_alloc_array(&list->arena, SETTING_COUNT_ALL, sizeof(*list->items));
    if (list->items == NULL)
        return error_no_memory(err);
    while (status == BOXCAR_OK && (status = query_step(&query, &row, err)) == BOXCAR_OK && row) {
        if (setting_find(query_get_text(&query, 0)) != NULL)
            status = add_value(&query, list, SETTING_COUNT_ALL, err);
    }
    return status;
}

boxcar_status sqlite_settings_read(struct boxcar_store *store, struct setting_value_list *ret_list,
                                   boxcar_error *err) {
    struct setting_value_list list = {.arena = ARENA_INIT};
    boxcar_status status = sqlite_transaction(sqlite_of(store), ACCESS_READ, read_all, &list, err);

    if (status == BOXCAR_OK)
        *ret_list = list;
    else
        arena_release(&list.arena);
    return status;
}

/* Streams stay in the partition they are in. */
static boxcar_status check_partitions(struct sqlite_store *store, boxcar_str name, double number,
                                      boxcar_error *err) {
    boxcar_status status;

    if (!str_equal(name, BOXCAR_STR("partition_count")))
        return BOXCAR_OK;
    status = sqlite_settings_load(store, err);
    if (status != BOXCAR_OK || !store->settings.partitions_fixed ||
        (int)number == store->settings.partition_count)
        return status;
    return error_set(
        err, BOXCAR_E_CONFLICT,
        "partition_count stays %d: this store has had messages in streams, and their partitions are "
        "fixed; set it in a new store",
        store->settings.partition_count);
}

static boxcar_status write_one(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct setting_value *value = context;
    struct query query = query_on(store, S_SETTING_WRITE);
    boxcar_status status = check_partitions(store, value->name, value->number, err);

    if (status != BOXCAR_OK)
        return status;
    query_text(&query, value->name);
    query_number(&query, value->number);
    query_text(&query, value->text);
    return query_run(&query, err);
}

boxcar_status sqlite_want_partitions(struct sqlite_store *store, int count, boxcar_error *err) {
    struct setting_value value = {.name = BOXCAR_STR("partition_count"), .number = count};
    boxcar_status status = sqlite_settings_load(store, err);

    if (status != BOXCAR_OK || store->settings.partition_count == count)
        return status;
    status = write_one(store, &value, err);
    if (status == BOXCAR_OK)
        store->settings.partition_count = count;
    return status;
}

static boxcar_status reset_one(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct setting_value *value = context;
    struct query query = query_on(store, S_SETTING_RESET);
    boxcar_status status = check_partitions(store, value->name, BOXCAR_PARTITION_COUNT_DEFAULT, err);

    if (status != BOXCAR_OK)
        return status;
    query_text(&query, value->name);
    return query_run(&query, err);
}

boxcar_status sqlite_setting_write(struct boxcar_store *store, const struct setting_value *value,
                                   boxcar_error *err) {
    struct setting_value written = *value;

    return sqlite_transaction(sqlite_of(store), ACCESS_WRITE, value->is_default ? reset_one : write_one,
                              &written, err);
}
