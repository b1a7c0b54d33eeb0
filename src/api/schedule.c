#include "boxcar/schedule.h"

#include "base/options.h"
#include "base/utf8.h"
#include "check.h"
#include "store/store.h"

/* ---- making, changing, removing ---- */

/* What the log says of each. */
static const char *const DONE[] = {
    [SCHEDULE_ADD] = "schedule added",      [SCHEDULE_PAUSE] = "schedule paused",
    [SCHEDULE_RESUME] = "schedule resumed", [SCHEDULE_COMPLETE] = "slice completed",
    [SCHEDULE_REMOVE] = "schedule removed",
};

static boxcar_status change(boxcar_store *store, const struct schedule_change *change, bool *ret_changed,
                            boxcar_error *err) {
    const boxcar_log_field fields[] = {{"topic", change->topic}, {"work_key", change->work_key}};
    bool is_completing = change->action == SCHEDULE_COMPLETE, has_changed = false;

    TRY(check_given(store, "store", err));
    TRY(limits_check_schedule_key(change->topic, change->work_key, err));
    TRY(store->ops->schedule_change(store, change, &has_changed, err));
    if (has_changed || !is_completing) /* handlers complete slices, people do the rest */
        store_log(store, is_completing ? BOXCAR_LOG_DEBUG : BOXCAR_LOG_INFO, "schedule", fields, 2, "%s",
                  DONE[change->action]);
    if (ret_changed)
        *ret_changed = has_changed;
    return BOXCAR_OK;
}

boxcar_status boxcar_schedule_add(boxcar_store *store, const boxcar_new_schedule *schedule,
                                  boxcar_error *err) {
    boxcar_new_schedule checked = BOXCAR_NEW_SCHEDULE_INIT;

    TRY(options_read(&checked, sizeof(checked), schedule, "schedule", err));
    TRY(limits_check_new_schedule(&checked, err));
    const struct schedule_change adding = {
        .action = SCHEDULE_ADD, .topic = checked.topic, .work_key = checked.work_key, .given = &checked};
    return change(store, &adding, NULL, err);
}

static boxcar_status change_plainly(boxcar_store *store, boxcar_str topic, boxcar_str work_key,
                                    enum schedule_action action, boxcar_error *err) {
    const struct schedule_change plain = {.action = action, .topic = topic, .work_key = work_key};

    return change(store, &plain, NULL, err);
}

boxcar_status boxcar_schedule_pause(boxcar_store *store, boxcar_str topic, boxcar_str work_key,
                                    boxcar_error *err) {
    return change_plainly(store, topic, work_key, SCHEDULE_PAUSE, err);
}

boxcar_status boxcar_schedule_resume(boxcar_store *store, boxcar_str topic, boxcar_str work_key,
                                     boxcar_error *err) {
    return change_plainly(store, topic, work_key, SCHEDULE_RESUME, err);
}

boxcar_status boxcar_schedule_remove(boxcar_store *store, boxcar_str topic, boxcar_str work_key,
                                     boxcar_error *err) {
    return change_plainly(store, topic, work_key, SCHEDULE_REMOVE, err);
}

boxcar_status boxcar_schedule_complete(boxcar_store *store, boxcar_str topic, boxcar_str work_key, int shard,
                                       int64_t slice, bool *ret_changed, boxcar_error *err) {
    const struct schedule_change completing = {
        .action = SCHEDULE_COMPLETE, .topic = topic, .work_key = work_key, .shard = shard, .slice = slice};

    TRY(limits_check_slice(shard, slice, err));
    return change(store, &completing, ret_changed, err);
}

/* ---- planning ---- */

boxcar_status boxcar_schedule_plan(boxcar_store *store, const boxcar_plan *plan, boxcar_planned *ret_planned,
                                   boxcar_error *err) {
    boxcar_plan checked = BOXCAR_PLAN_INIT;
    boxcar_planned planned = BOXCAR_PLANNED_INIT;

    TRY(check_given(store, "store", err));
    TRY(options_read(&checked, sizeof(checked), plan, "plan", err));
    TRY(limits_check_plan(&checked, err));
    TRY(answer_check(ret_planned, "ret_planned", err));
    TRY(store->ops->schedule_plan(store, &checked, &planned, err));
    answers_write(ret_planned, &planned, 1, sizeof(planned));
    return BOXCAR_OK;
}

/* ---- looking ---- */

boxcar_status boxcar_schedule_read(boxcar_store *store, boxcar_str topic, boxcar_str work_key,
                                   boxcar_schedule_list **ret_list, boxcar_error *err) {
    struct schedule_rows *rows;

    TRY(check_read(store, ret_list, err));
    if (!str_is_absent(topic) || !str_is_absent(work_key))
        TRY(limits_check_schedule_key(topic, work_key, err));
    TRY(store->ops->schedule_read(store, topic, work_key, &rows, err));
    return LIST_GIVE(rows, ret_list, err);
}

boxcar_status boxcar_schedule_slice_read(boxcar_store *store, boxcar_str topic, boxcar_str work_key,
                                         boxcar_slice_list **ret_list, boxcar_error *err) {
    struct slice_rows *rows;

    TRY(check_read(store, ret_list, err));
    TRY(limits_check_schedule_key(topic, work_key, err));
    TRY(store->ops->schedule_slices(store, topic, work_key, &rows, err));
    return LIST_GIVE(rows, ret_list, err);
}
