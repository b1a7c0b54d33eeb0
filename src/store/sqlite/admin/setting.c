/* Settings: numbers and texts that differ from their defaults, one row each. */
#include "setting.h"

#include <stddef.h>

#include "base/utf8.h"
#include "boxcar/instance.h"
#include "core/limits/limits.h"
#include "core/names.h"
#include "core/setting.h"
#include "store/sqlite/connection/transaction.h"

/* Where numbers are kept; their defaults are in the one table of settings. */
static const struct number {
    const char *name;
    enum { NUMBER_INT, NUMBER_INT64, NUMBER_DOUBLE } type;
    size_t place;
} NUMBERS[] = {
    {"max_attempts", NUMBER_INT, offsetof(struct sqlite_settings, max_attempts)},
    {"payload_bytes_max", NUMBER_INT64, offsetof(struct sqlite_settings, payload_max)},
    {"headers_bytes_max", NUMBER_INT64, offsetof(struct sqlite_settings, headers_max)},
    {"retention_done", NUMBER_INT64, offsetof(struct sqlite_settings, retention_done_ms)},
    {"retention_dead", NUMBER_INT64, offsetof(struct sqlite_settings, retention_dead_ms)},
    {"retention_joins", NUMBER_INT64, offsetof(struct sqlite_settings, retention_joins_ms)},
    {"retention_inbox", NUMBER_INT64, offsetof(struct sqlite_settings, retention_inbox_ms)},
    {"partition_count", NUMBER_INT, offsetof(struct sqlite_settings, partition_count)},
    {"partitions_per_instance_max", NUMBER_INT, offsetof(struct sqlite_settings, partitions_max)},
    {"instance_timeout", NUMBER_INT64, offsetof(struct sqlite_settings, instance_timeout_ms)},
    {"backoff_base", NUMBER_INT64, offsetof(struct sqlite_settings, curve.base_ms)},
    {"backoff_factor", NUMBER_DOUBLE, offsetof(struct sqlite_settings, curve.factor)},
    {"backoff_cap", NUMBER_INT64, offsetof(struct sqlite_settings, curve.cap_ms)},
    {"backoff_jitter", NUMBER_DOUBLE, offsetof(struct sqlite_settings, curve.jitter)},
};
#define NUMBER_COUNT (sizeof(NUMBERS) / sizeof(NUMBERS[0]))

static void set_number(struct sqlite_settings *settings, const struct number *number, double value) {
    void *place = (char *)settings + number->place;
    if (number->type == NUMBER_INT)
        *(int *)place = (int)value;
    else if (number->type == NUMBER_INT64)
        *(int64_t *)place = (int64_t)value;
    else
        *(double *)place = value;
}

static void set_defaults(struct sqlite_settings *settings) {
    *settings = (struct sqlite_settings){.wait_topic = BOXCAR_STR(WAIT_TOPIC_DEFAULT),
                                         .stream_policy = BOXCAR_STREAM_CONTINUE};
    for (size_t i = 0; i < NUMBER_COUNT; i++) {
        const struct setting *setting = setting_find(boxcar_str_of(NUMBERS[i].name));
        double value = 0;
        if (setting != NULL)
            setting_parse(setting, boxcar_str_of(setting->default_value), &value, NULL);
        set_number(settings, &NUMBERS[i], value);
    }
}

static void apply_number(struct sqlite_settings *settings, boxcar_str name, double value) {
    for (size_t i = 0; i < NUMBER_COUNT; i++) {
        if (str_equal(name, boxcar_str_of(NUMBERS[i].name)))
            set_number(settings, &NUMBERS[i], value);
    }
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
    if (store->settings.loaded)
        return BOXCAR_OK;
    AUTO_QUERY struct query query = query_on(store, S_SETTINGS);
    set_defaults(&store->settings);
    while (query_next(&query))
        TRY(apply_row(store, &query, err));
    TRY(query_status(&query, err));
    store->settings.loaded = true;
    return BOXCAR_OK;
}

boxcar_status sqlite_check_sizes(struct sqlite_store *store, boxcar_str payload, boxcar_str headers,
                                 boxcar_error *err) {
    if (payload.len <= LIMITS_PAYLOAD_ALWAYS && headers.len <= LIMITS_HEADERS_ALWAYS)
        return BOXCAR_OK;
    TRY(sqlite_settings_load(store, err));
    return limits_check_sizes(payload.len, store->settings.payload_max, headers.len,
                              store->settings.headers_max, err);
}

boxcar_status sqlite_check_metadata(struct sqlite_store *store, boxcar_str metadata, boxcar_error *err) {
    if (metadata.len <= LIMITS_PAYLOAD_ALWAYS)
        return BOXCAR_OK;
    TRY(sqlite_settings_load(store, err));
    return limits_check_size(metadata.len, store->settings.payload_max, "metadata", "payload_bytes_max", err);
}

boxcar_status sqlite_check_message_metadata(struct sqlite_store *store, boxcar_str metadata,
                                            boxcar_error *err) {
    if (metadata.len <= LIMITS_HEADERS_ALWAYS)
        return BOXCAR_OK;
    TRY(sqlite_settings_load(store, err));
    return limits_check_size(metadata.len, store->settings.headers_max, "metadata", "headers_bytes_max", err);
}

/* ---- for people ---- */

static boxcar_status read_all(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct setting_value_list *list = context;
    AUTO_QUERY struct query query = query_on(store, S_SETTINGS);
    list_clear(list);
    while (query_next(&query)) {
        if (setting_find(query_get_text(&query, 0)) == NULL) /* partitions_in_use, or of a newer program */
            continue;
        struct setting_value *value = list_add(list, sizeof(*value));
        if (value == NULL)
            return error_no_memory(err);
        value->number = get_number(&query, 1);
        TRY(query_copy_text(&query, 0, &list->arena, &value->name, err));
        TRY(query_copy_text(&query, 2, &list->arena, &value->text, err));
    }
    return query_status(&query, err);
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
    if (!str_equal(name, BOXCAR_STR("partition_count")))
        return BOXCAR_OK;
    TRY(sqlite_settings_load(store, err));
    if (!store->settings.partitions_fixed || (int)number == store->settings.partition_count)
        return BOXCAR_OK;
    return error_set(
        err, BOXCAR_E_CONFLICT,
        "partition_count stays %d: this store has had messages in streams, and their partitions are "
        "fixed; set it in a new store",
        store->settings.partition_count);
}

static boxcar_status write_one(struct sqlite_store *store, void *context, boxcar_error *err) {
    const struct setting_value *value = context;
    double number = value->is_default ? BOXCAR_PARTITION_COUNT_DEFAULT : value->number;
    TRY(check_partitions(store, value->name, number, err));
    if (value->is_default)
        return query_do(store, S_SETTING_RESET, err, Q_TEXT(value->name));
    return query_do(store, S_SETTING_WRITE, err, Q_TEXT(value->name), Q_NUMBER(number), Q_TEXT(value->text));
}

boxcar_status sqlite_want_partitions(struct sqlite_store *store, int count, boxcar_error *err) {
    struct setting_value value = {.name = BOXCAR_STR("partition_count"), .number = count};
    TRY(sqlite_settings_load(store, err));
    if (store->settings.partition_count == count)
        return BOXCAR_OK;
    TRY(write_one(store, &value, err));
    store->settings.partition_count = count;
    return BOXCAR_OK;
}

boxcar_status sqlite_setting_write(struct boxcar_store *store, const struct setting_value *value,
                                   boxcar_error *err) {
    struct setting_value written = *value;
    return sqlite_transaction(sqlite_of(store), ACCESS_WRITE, write_one, &written, err);
}
