#include "boxcar/fanout.h"

#include <stdlib.h>

#include "base/options.h"
#include "base/utf8.h"
#include "check.h"
#include "core/fanout.h"
#include "store/store.h"

/* ---- making, changing, removing ---- */

/* What the log says of each. */
static const char *const DONE[] = {
    [SUBSCRIPTION_ADD_POLICY] = "policy added", [SUBSCRIPTION_PAUSE] = "policy paused",
    [SUBSCRIPTION_RESUME] = "policy resumed",   [SUBSCRIPTION_REWIND] = "policy rewound",
    [SUBSCRIPTION_REMOVE] = "policy removed",
};

static boxcar_status change(boxcar_store *store, const struct subscription_change *change, int64_t *ret_count,
                            boxcar_error *err) {
    const boxcar_log_field field = {"fanout", change->name};
    boxcar_box reader = 0;
    int64_t count = 0;

    TRY(check_given(store, "store", err));
    TRY(limits_check_policy_name(change->name, "name", err));
    TRY(store->ops->subscription_change(store, change, &reader, &count, err));
    store_log(store, BOXCAR_LOG_INFO, "fanout", &field, 1, "%s", DONE[change->action]);
    if (ret_count)
        *ret_count = count;
    return BOXCAR_OK;
}

boxcar_status boxcar_fanout_add(boxcar_store *store, const boxcar_new_fanout *fanout, boxcar_error *err) {
    boxcar_new_fanout checked = BOXCAR_NEW_FANOUT_INIT;

    TRY(options_read(&checked, sizeof(checked), fanout, "fanout", err));
    TRY(limits_check_new_fanout(&checked, err));
    const struct subscription_change adding = {
        .action = SUBSCRIPTION_ADD_POLICY, .name = checked.name, .of_policy = true, .policy = &checked};
    return change(store, &adding, NULL, err);
}

boxcar_status boxcar_fanout_pause(boxcar_store *store, boxcar_str name, boxcar_error *err) {
    const struct subscription_change pausing = {
        .action = SUBSCRIPTION_PAUSE, .name = name, .of_policy = true};

    return change(store, &pausing, NULL, err);
}

boxcar_status boxcar_fanout_resume(boxcar_store *store, boxcar_str name, boxcar_error *err) {
    const struct subscription_change resuming = {
        .action = SUBSCRIPTION_RESUME, .name = name, .of_policy = true};

    return change(store, &resuming, NULL, err);
}

boxcar_status boxcar_fanout_rewind(boxcar_store *store, boxcar_str name, const boxcar_place *place,
                                   int64_t *ret_count, boxcar_error *err) {
    boxcar_place checked = BOXCAR_PLACE_INIT;

    TRY(options_read(&checked, sizeof(checked), place, "place", err));
    TRY(limits_check_place(&checked, err));
    const struct subscription_change rewinding = {
        .action = SUBSCRIPTION_REWIND, .name = name, .of_policy = true, .place = checked};
    return change(store, &rewinding, ret_count, err);
}

boxcar_status boxcar_fanout_remove(boxcar_store *store, boxcar_str name, bool force, boxcar_error *err) {
    const struct subscription_change removing = {
        .action = SUBSCRIPTION_REMOVE, .name = name, .of_policy = true, .force = force};

    return change(store, &removing, NULL, err);
}

/* ---- looking ---- */

struct fanout_rows {
    LIST_OF(boxcar_fanout);
};

/* By policies first: in the order of whole names, "a-b/x" comes before "a/x". */
static int compare(const void *a, const void *b) {
    const boxcar_subscription *left = *(const boxcar_subscription *const *)a;
    const boxcar_subscription *right = *(const boxcar_subscription *const *)b;
    int order = str_compare(fanout_policy_of(left->name), fanout_policy_of(right->name));

    return order != 0 ? order : str_compare(left->name, right->name);
}

/* The policy that this route begins. */
static bool begin_policy(struct fanout_rows *list, const boxcar_subscription *const *routes) {
    boxcar_fanout *policy = list_add(list, sizeof(*policy));

    if (!policy)
        return false;
    *policy = (boxcar_fanout){.name = fanout_policy_of(routes[0]->name),
                              .box = routes[0]->box,
                              .patterns = routes[0]->patterns,
                              .pattern_count = routes[0]->pattern_count,
                              .then_topic = routes[0]->then_topic,
                              .else_topic = routes[0]->else_topic,
                              .routes = routes};
    return true;
}

/* Each policy's routes are a piece of one array. */
static bool group(struct fanout_rows *list, const struct subscription_rows *rows) {
    const boxcar_subscription **routes =
        arena_alloc_array(&list->arena, rows->count + 1, sizeof(const boxcar_subscription *));

    if (!routes)
        return false;
    for (size_t i = 0; i < rows->count; i++)
        routes[i] = &rows->items[i];
    qsort(routes, rows->count, sizeof(const boxcar_subscription *), compare);
    for (size_t i = 0; i < rows->count; i++) {
        bool is_next = list->count == 0 ||
                       !str_equal(list->items[list->count - 1].name, fanout_policy_of(routes[i]->name));
        if (is_next && !begin_policy(list, routes + i))
            return false;
        list->items[list->count - 1].route_count++;
    }
    return true;
}

boxcar_status boxcar_fanout_read(boxcar_store *store, boxcar_str name, boxcar_fanout_list **ret_list,
                                 boxcar_error *err) {
    const struct subscription_choice choice = {.name = name, .of_policy = true};
    struct subscription_rows *rows;

    TRY(check_read(store, ret_list, err));
    if (!str_is_absent(name))
        TRY(limits_check_policy_name(name, "name", err));
    TRY(store->ops->subscription_read(store, &choice, &rows, err));
    struct fanout_rows *list = calloc(1, sizeof(*list));
    bool is_grouped = list && group(list, rows);
    if (is_grouped) /* its texts and routes */
        arena_adopt(&list->arena, &rows->arena);
    list_free(rows);
    if (!is_grouped) {
        list_free(list);
        return error_no_memory(err);
    }
    return LIST_GIVE(list, ret_list, err);
}
