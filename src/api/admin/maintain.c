#include <stdlib.h>

#include "api/check.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/utf8.h"
#include "core/setting.h"
#include "store/store.h"

struct setting_rows {
    LIST_OF(boxcar_setting);
};

boxcar_status boxcar_maintenance_run(boxcar_store *store, boxcar_maintenance *ret_maintenance,
                                     boxcar_error *err) {
    struct upkeep_done done = {.waits = 0};
    boxcar_status status = check_given(store, "store", err);

    if (status == BOXCAR_OK)
        status = answer_check(ret_maintenance, "ret_maintenance", err);
    if (status == BOXCAR_OK)
        status = store->ops->maintain(store, UPKEEP_ROUND, &done, err);
    if (status == BOXCAR_OK)
        answers_write(ret_maintenance, &done.round, 1, sizeof(done.round));
    return status;
}

boxcar_status boxcar_upkeep_read(boxcar_store *store, boxcar_upkeep *ret_upkeep, boxcar_error *err) {
    struct store_facts facts;
    boxcar_status status = check_given(store, "store", err);

    if (status == BOXCAR_OK)
        status = check_given(ret_upkeep, "ret_upkeep", err);
    if (status == BOXCAR_OK)
        status = answer_check(ret_upkeep, "ret_upkeep", err);
    if (status == BOXCAR_OK)
        status = store->ops->facts(store, &facts, err);
    if (status == BOXCAR_OK)
        answers_write(ret_upkeep, &facts.upkeep, 1, sizeof(facts.upkeep));
    return status;
}

boxcar_status boxcar_audit_run(boxcar_store *store, bool repair, boxcar_audit *ret_audit, boxcar_error *err) {
    struct upkeep_done done = {.waits = 0};
    boxcar_status status = check_given(store, "store", err);

    if (status == BOXCAR_OK)
        status = answer_check(ret_audit, "ret_audit", err);
    if (status == BOXCAR_OK)
        status = store->ops->maintain(store, repair ? UPKEEP_REPAIR : UPKEEP_AUDIT, &done, err);
    if (status == BOXCAR_OK)
        answers_write(ret_audit, &done.audit, 1, sizeof(done.audit));
    return status;
}

static const struct setting_value *find_value(const struct setting_value_list *values, boxcar_str name) {
    for (size_t i = 0; i < values->count; i++)
        if (str_equal(values->items[i].name, name))
            return &values->items[i];
    return NULL;
}

/* Settings that the store has and this library does not know are a newer library's business. */
static bool fill_setting(struct arena *arena, const struct setting *setting,
                         const struct setting_value_list *values, boxcar_setting *ret_setting) {
    boxcar_str default_value = boxcar_str_of(setting->default_value);
    boxcar_str name = boxcar_str_of(setting->name), value = default_value;
    const struct setting_value *stored = find_value(values, name);
    char text[32];

    if (stored && !setting_is_text(setting))
        setting_format(setting, stored->number, text);
    if (stored &&
        !arena_copy_str(arena, setting_is_text(setting) ? stored->text : boxcar_str_of(text), &value))
        return false;
    *ret_setting = (boxcar_setting){
        .name = name, .value = value, .default_value = default_value, .help = boxcar_str_of(setting->help)};
    return true;
}

static bool fill_list(struct setting_rows *list, const struct setting_value_list *values) {
    list->items = arena_alloc_array(&list->arena, SETTING_COUNT_ALL, sizeof(*list->items));
    if (!list->items)
        return false;
    for (; list->count < SETTING_COUNT_ALL; list->count++) {
        if (!fill_setting(&list->arena, &SETTINGS[list->count], values, &list->items[list->count]))
            return false;
    }
    return true;
}

static struct setting_rows *merge(const struct setting_value_list *values) {
    struct setting_rows *list = calloc(1, sizeof(*list));

    if (list && !fill_list(list, values)) {
        list_free(list);
        return NULL;
    }
    return list;
}

boxcar_status boxcar_setting_read(boxcar_store *store, boxcar_setting_list **ret_list, boxcar_error *err) {
    struct setting_value_list values = {.arena = ARENA_INIT};
    struct setting_rows *list;
    boxcar_status status = check_given(store, "store", err);

    if (status == BOXCAR_OK)
        status = check_given(ret_list, "ret_list", err);
    if (status == BOXCAR_OK)
        status = store->ops->settings_read(store, &values, err);
    if (status != BOXCAR_OK)
        return status;
    list = merge(&values);
    arena_release(&values.arena);
    return list ? LIST_GIVE(list, ret_list, err) : error_no_memory(err);
}

static boxcar_status refuse_name(boxcar_str name, boxcar_error *err) {
    boxcar_str shown = utf8_cut(name, 64);

    return error_set(err, BOXCAR_E_NOT_FOUND,
                     "there is no setting \"%.*s\": boxcar_setting_read() lists them", (int)shown.len,
                     shown.data ? shown.data : "");
}

static boxcar_status write_value(boxcar_store *store, const struct setting *setting, boxcar_str value,
                                 boxcar_error *err) {
    struct setting_value written = {.name = boxcar_str_of(setting->name)};
    boxcar_status status = setting_parse(setting, value, &written.number, err);

    if (setting_is_text(setting))
        written.text = value;
    return status == BOXCAR_OK ? store->ops->setting_write(store, &written, err) : status;
}

boxcar_status boxcar_setting_write(boxcar_store *store, boxcar_str name, boxcar_str value,
                                   boxcar_error *err) {
    const struct setting *setting = setting_find(name);
    const struct setting_value by_default = {.name = name, .is_default = true};
    boxcar_status status = check_given(store, "store", err);

    if (status != BOXCAR_OK)
        return status;
    if (!setting)
        return refuse_name(name, err);
    if (str_is_absent(value))
        status = store->ops->setting_write(store, &by_default, err);
    else
        status = write_value(store, setting, value, err);
    if (status == BOXCAR_OK)
        store_log(store, BOXCAR_LOG_INFO, "setting", NULL, 0, "changed setting %s", setting->name);
    return status;
}
