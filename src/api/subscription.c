#include "base/options.h"
#include "base/utf8.h"
#include "check.h"
#include "store/store.h"

/* ---- making, changing, removing ---- */

/* What the log says of each. */
static const char *const DONE[] = {
    [SUBSCRIPTION_ADD] = "subscription added",      [SUBSCRIPTION_PAUSE] = "subscription paused",
    [SUBSCRIPTION_RESUME] = "subscription resumed", [SUBSCRIPTION_ALTER] = "subscription changed",
    [SUBSCRIPTION_REWIND] = "subscription rewound", [SUBSCRIPTION_REMOVE] = "subscription removed",
};

static boxcar_status change(boxcar_store *store, const struct subscription_change *change,
                            boxcar_box *ret_reader, int64_t *ret_count, boxcar_error *err) {
    const boxcar_log_field field = {"subscription", change->name};
    boxcar_box reader = 0;
    int64_t count = 0;

    TRY(check_given(store, "store", err));
    TRY(limits_check_subscription_name(change->name, "name", err));
    TRY(store->ops->subscription_change(store, change, &reader, &count, err));
    store_log(store, BOXCAR_LOG_INFO, "subscription", &field, 1, "%s", DONE[change->action]);
    if (ret_reader)
        *ret_reader = reader;
    if (ret_count)
        *ret_count = count;
    return BOXCAR_OK;
}

boxcar_status boxcar_subscription_add(boxcar_store *store, const boxcar_new_subscription *subscription,
                                      boxcar_box *ret_reader, boxcar_error *err) {
    boxcar_new_subscription checked = BOXCAR_NEW_SUBSCRIPTION_INIT;

    TRY(options_read(&checked, sizeof(checked), subscription, "subscription", err));
    TRY(limits_check_new_subscription(&checked, err));
    const struct subscription_change adding = {
        .action = SUBSCRIPTION_ADD, .name = checked.name, .given = &checked};
    return change(store, &adding, ret_reader, NULL, err);
}

static boxcar_status change_plainly(boxcar_store *store, boxcar_str name, enum subscription_action action,
                                    boxcar_error *err) {
    const struct subscription_change plain = {.action = action, .name = name};

    return change(store, &plain, NULL, NULL, err);
}

boxcar_status boxcar_subscription_pause(boxcar_store *store, boxcar_str name, boxcar_error *err) {
    return change_plainly(store, name, SUBSCRIPTION_PAUSE, err);
}

boxcar_status boxcar_subscription_resume(boxcar_store *store, boxcar_str name, boxcar_error *err) {
    return change_plainly(store, name, SUBSCRIPTION_RESUME, err);
}

boxcar_status boxcar_subscription_change(boxcar_store *store, boxcar_str name,
                                         const boxcar_subscription_changes *changes, boxcar_error *err) {
    boxcar_subscription_changes checked = BOXCAR_SUBSCRIPTION_CHANGES_INIT;

    TRY(options_read(&checked, sizeof(checked), changes, "changes", err));
    TRY(limits_check_subscription_changes(&checked, err));
    const struct subscription_change altering = {
        .action = SUBSCRIPTION_ALTER, .name = name, .changes = &checked};
    return change(store, &altering, NULL, NULL, err);
}

boxcar_status boxcar_subscription_rewind(boxcar_store *store, boxcar_str name, const boxcar_place *place,
                                         int64_t *ret_count, boxcar_error *err) {
    boxcar_place checked = BOXCAR_PLACE_INIT;

    TRY(options_read(&checked, sizeof(checked), place, "place", err));
    TRY(limits_check_place(&checked, err));
    const struct subscription_change rewinding = {
        .action = SUBSCRIPTION_REWIND, .name = name, .place = checked};
    return change(store, &rewinding, NULL, ret_count, err);
}

boxcar_status boxcar_subscription_remove(boxcar_store *store, boxcar_str name, bool force,
                                         boxcar_error *err) {
    const struct subscription_change removing = {.action = SUBSCRIPTION_REMOVE, .name = name, .force = force};

    return change(store, &removing, NULL, NULL, err);
}

/* ---- looking ---- */

boxcar_status boxcar_subscription_find(boxcar_store *store, boxcar_str name, boxcar_box *ret_reader,
                                       boxcar_error *err) {
    struct subscription_rows *rows;

    TRY(check_given(store, "store", err));
    TRY(limits_check_subscription_name(name, "name", err));
    TRY(check_given(ret_reader, "ret_reader", err));
    TRY(store->ops->subscription_read(store, &(struct subscription_choice){.name = name, .is_brief = true},
                                      &rows, err));
    *ret_reader = rows->items[0].reader;
    list_free(rows);
    return BOXCAR_OK;
}

boxcar_status boxcar_subscription_read(boxcar_store *store, boxcar_str name,
                                       boxcar_subscription_list **ret_list, boxcar_error *err) {
    struct subscription_rows *rows;

    TRY(check_read(store, ret_list, err));
    if (!str_is_absent(name))
        TRY(limits_check_subscription_name(name, "name", err));
    TRY(store->ops->subscription_read(store, &(struct subscription_choice){.name = name}, &rows, err));
    return LIST_GIVE(rows, ret_list, err);
}

boxcar_status boxcar_subscription_attempt_read(boxcar_store *store, boxcar_box reader, boxcar_work_id work_id,
                                               boxcar_attempt_list **ret_list, boxcar_error *err) {
    struct attempt_rows *rows;

    TRY(check_read(store, ret_list, err));
    TRY(limits_check_range(reader, "reader", BOXCAR_INBOX + 1, BOXCAR_READER_MAX, err));
    TRY(limits_check_range(work_id.value, "work_id", 1, INT64_MAX, err));
    TRY(store->ops->attempts(store, reader, work_id, &rows, err));
    return LIST_GIVE(rows, ret_list, err);
}
