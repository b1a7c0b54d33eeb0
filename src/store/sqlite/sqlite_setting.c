/* Settings: numbers that differ from their defaults, one row each. */
#include <string.h>

#include "base/utf8.h"
#include "core/setting.h"
#include "sqlite_store.h"

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
    settings->retention_done_ms = (int64_t)default_of("retention_done");
    settings->retention_dead_ms = (int64_t)default_of("retention_dead");
    settings->curve.base_ms = (int64_t)default_of("backoff_base");
    settings->curve.factor = default_of("backoff_factor");
    settings->curve.cap_ms = (int64_t)default_of("backoff_cap");
    settings->curve.jitter = default_of("backoff_jitter");
}

static void apply(struct sqlite_settings *settings, boxcar_str name, double number) {
    if (str_equal(name, BOXCAR_STR("max_attempts")))
        settings->max_attempts = (int)number;
    else if (str_equal(name, BOXCAR_STR("retention_done")))
        settings->retention_done_ms = (int64_t)number;
    else if (str_equal(name, BOXCAR_STR("retention_dead")))
        settings->retention_dead_ms = (int64_t)number;
    else if (str_equal(name, BOXCAR_STR("backoff_base")))
        settings->curve.base_ms = (int64_t)number;
    else if (str_equal(name, BOXCAR_STR("backoff_factor")))
        settings->curve.factor = number;
    else if (str_equal(name, BOXCAR_STR("backoff_cap")))
        settings->curve.cap_ms = (int64_t)number;
    else if (str_equal(name, BOXCAR_STR("backoff_jitter")))
        settings->curve.jitter = number;
}

static double get_number(const struct query *query, int column) {
    return sqlite3_column_double(query->stmt, column);
}

boxcar_status sqlite_settings_load(struct sqlite_store *store, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_SETTINGS);
    bool row = true;
    boxcar_status status;

    if (store->settings.loaded)
        return BOXCAR_OK;
    set_defaults(&store->settings);
    while ((status = query_step(&query, &row, err)) == BOXCAR_OK && row)
        apply(&store->settings, query_get_text(&query, 0), get_number(&query, 1));
    store->settings.loaded = status == BOXCAR_OK;
    return status;
}

/* ---- for people ---- */

static boxcar_status add_value(struct query *query, struct setting_value_list *list, size_t capacity,
                               boxcar_error *err) {
    if (list->count == capacity) /* written by a newer program that knows more settings */
        return BOXCAR_OK;
    struct setting_value *value = &list->items[list->count++];
    value->number = get_number(query, 1);
    return query_copy_text(query, 0, &list->arena, &value->name, err);
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

struct writing {
    boxcar_str name;
    double number;
};

static boxcar_status write_one(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct writing *writing = context;
    struct query query = query_on(store, S_SETTING_WRITE);

    query_text(&query, writing->name);
    query_number(&query, writing->number);
    return query_run(&query, err);
}

boxcar_status sqlite_setting_write(struct boxcar_store *store, boxcar_str name, double number,
                                   boxcar_error *err) {
    struct writing writing = {.name = name, .number = number};

    return sqlite_transaction(sqlite_of(store), ACCESS_WRITE, write_one, &writing, err);
}

static boxcar_status reset_one(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct writing *writing = context;
    struct query query = query_on(store, S_SETTING_RESET);

    query_text(&query, writing->name);
    return query_run(&query, err);
}

boxcar_status sqlite_setting_reset(struct boxcar_store *store, boxcar_str name, boxcar_error *err) {
    struct writing writing = {.name = name};

    return sqlite_transaction(sqlite_of(store), ACCESS_WRITE, reset_one, &writing, err);
}
