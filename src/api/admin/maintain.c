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

    TRY(check_given(store, "store", err));
    TRY(answer_check(ret_maintenance, "ret_maintenance", err));
    TRY(store->ops->maintain(store, UPKEEP_ROUND, &done, err));
    answers_write(ret_maintenance, &done.round, 1, sizeof(done.round));
    return BOXCAR_OK;
}

boxcar_status boxcar_upkeep_read(boxcar_store *store, boxcar_upkeep *ret_upkeep, boxcar_error *err) {
    struct store_facts facts;

    TRY(check_given(store, "store", err));
    TRY(check_given(ret_upkeep, "ret_upkeep", err));
    TRY(answer_check(ret_upkeep, "ret_upkeep", err));
    TRY(store->ops->facts(store, &facts, err));
    answers_write(ret_upkeep, &facts.upkeep, 1, sizeof(facts.upkeep));
    return BOXCAR_OK;
}

boxcar_status boxcar_audit_run(boxcar_store *store, bool repair, boxcar_audit *ret_audit, boxcar_error *err) {
    struct upkeep_done done = {.waits = 0};

    TRY(check_given(store, "store", err));
    TRY(answer_check(ret_audit, "ret_audit", err));
    TRY(store->ops->maintain(store, repair ? UPKEEP_REPAIR : UPKEEP_AUDIT, &done, err));
    answers_write(ret_audit, &done.audit, 1, sizeof(done.audit));
    return BOXCAR_OK;
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

boxcar_status boxcar_setting_read(boxcar_store *store, boxcar_setting_list **ret_list, boxcar_error *err) {
    struct setting_value_list values = {.arena = ARENA_INIT};

    TRY(check_read(store, ret_list, err));
    TRY(store->ops->settings_read(store, &values, err));
    struct setting_rows *rows = calloc(1, sizeof(*rows));
    bool is_filled = rows && fill_list(rows, &values);
    arena_release(&values.arena);
    if (is_filled)
        return LIST_GIVE(rows, ret_list, err);
    list_free(rows);
    return error_no_memory(err);
}

boxcar_status boxcar_setting_write(boxcar_store *store, boxcar_str name, boxcar_str value,
                                   boxcar_error *err) {
    const struct setting *setting = setting_find(name);
    struct setting_value written = {.name = name, .is_default = str_is_absent(value)};

    TRY(check_given(store, "store", err));
    if (!setting) {
        boxcar_str shown = utf8_cut(name, 64);
        return error_set(err, BOXCAR_E_NOT_FOUND,
                         "there is no setting \"%.*s\": boxcar_setting_read() lists them", (int)shown.len,
                         shown.data ? shown.data : "");
    }
    if (!written.is_default)
        TRY(setting_parse(setting, value, &written.number, err));
    if (setting_is_text(setting))
        written.text = value;
    TRY(store->ops->setting_write(store, &written, err));
    store_log(store, BOXCAR_LOG_INFO, "setting", NULL, 0, "changed setting %s", setting->name);
    return BOXCAR_OK;
}
