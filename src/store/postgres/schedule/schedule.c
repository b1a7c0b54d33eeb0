/* Scheduled fanout. */
#include "schedule.h"

#include "base/error.h"
#include "base/utf8.h"
#include "store/postgres/connection/error.h"
#include "store/postgres/connection/query.h"

/* ---- changes and planning ---- */

static boxcar_status add(struct pg_store *pg, const boxcar_new_schedule *given, boxcar_error *err) {
    return pg_do(pg, PG_SCHEDULE_ADD, err, P_TEXT(given->topic), P_TEXT(given->work_key),
                 P_MS(given->every_ms), P_MS(given->jitter_ms), P_INT4(given->shards),
                 P_TEXT(given->then_topic), P_TEXT(given->else_topic));
}

static boxcar_status complete(struct pg_store *pg, const struct schedule_change *change, bool *ret_changed,
                              boxcar_error *err) {
    AUTO_RESULT PGresult *result = NULL;

    TRY(pg_ask(pg, PG_SCHEDULE_COMPLETE, &result, err, P_TEXT(change->topic), P_TEXT(change->work_key),
               P_INT4(change->shard), P_INT8(change->slice)));
    *ret_changed = pg_get_bool(result, 0, 0);
    return BOXCAR_OK;
}

/* A second try, when the answer to the first was lost, may find that the first has removed it. */
static boxcar_status remove_it(struct pg_store *pg, const struct schedule_change *change, boxcar_error *err) {
    boxcar_error why = BOXCAR_ERROR_INIT;
    boxcar_status status =
        pg_do(pg, PG_SCHEDULE_REMOVE, &why, P_TEXT(change->topic), P_TEXT(change->work_key));

    return status == BOXCAR_E_NOT_FOUND && why.outcome_unknown ? BOXCAR_OK : pg_error_pass(status, &why, err);
}

static boxcar_status change_schedule(struct pg_store *pg, const struct schedule_change *change,
                                     bool *ret_changed, boxcar_error *err) {
    static const enum pg_statement STATEMENTS[] = {
        [SCHEDULE_PAUSE] = PG_SCHEDULE_PAUSE, [SCHEDULE_RESUME] = PG_SCHEDULE_RESUME};

    if (change->action == SCHEDULE_ADD)
        return add(pg, change->given, err);
    if (change->action == SCHEDULE_COMPLETE)
        return complete(pg, change, ret_changed, err);
    if (change->action == SCHEDULE_REMOVE)
        return remove_it(pg, change, err);
    return pg_do(pg, STATEMENTS[change->action], err, P_TEXT(change->topic), P_TEXT(change->work_key));
}

/* SQL does not name the schedule that is not there; callers in C are told. */
boxcar_status pg_schedule_change(struct boxcar_store *store, const struct schedule_change *change,
                                 bool *ret_changed, boxcar_error *err) {
    boxcar_status status = change_schedule(pg_store_of(store), change, ret_changed, err);

    return status == BOXCAR_E_NOT_FOUND ? store_refuse_schedule(change->topic, change->work_key, err)
                                        : status;
}

boxcar_status pg_schedule_plan(struct boxcar_store *store, const boxcar_plan *plan,
                               boxcar_planned *ret_planned, boxcar_error *err) {
    AUTO_RESULT PGresult *result = NULL;

    TRY(pg_ask(pg_store_of(store), PG_SCHEDULE_PLAN, &result, err, P_ID(plan->owner), P_MS(plan->lease_ms),
               P_INT8(plan->fence), P_INT4(plan->most)));
    ret_planned->fence = pg_get_int8(result, 0, 0);
    ret_planned->count = pg_get_int4(result, 0, 1);
    ret_planned->next_due_at = pg_get_time(result, 0, 2);
    return BOXCAR_OK;
}

/* ---- looking ---- */

static void read_schedule(const PGresult *r, int row, void *item) {
    boxcar_schedule *s = item;

    s->topic = pg_get_text(r, row, 0);
    s->work_key = pg_get_text(r, row, 1);
    s->every_ms = pg_get_int8(r, row, 2);
    s->jitter_ms = pg_get_int8(r, row, 3);
    s->shards = pg_get_int4(r, row, 4);
    s->then_topic = pg_get_text(r, row, 5);
    s->else_topic = pg_get_text(r, row, 6);
    s->created_at = pg_get_time(r, row, 7);
    s->paused_at = pg_get_time(r, row, 8);
    s->open_slices = pg_get_int4(r, row, 9);
    s->next_due_at = pg_get_time(r, row, 10);
}

boxcar_status pg_schedule_read(struct boxcar_store *store, boxcar_str topic, boxcar_str work_key,
                               struct schedule_rows **ret_list, boxcar_error *err) {
    struct schedule_rows *list;

    TRY(pg_ask_list(pg_store_of(store), PG_SCHEDULES, read_schedule, &list, err, P_TEXT(topic),
                    P_TEXT(work_key)));
    if (list->count == 0 && !str_is_absent(topic)) {
        list_free(list);
        return store_refuse_schedule(topic, work_key, err);
    }
    *ret_list = list;
    return BOXCAR_OK;
}

static void read_slice(const PGresult *r, int row, void *item) {
    boxcar_slice *s = item;

    s->shard = pg_get_int4(r, row, 0);
    s->slice = pg_get_int8(r, row, 1);
    pg_get_uuid(r, row, 2, s->message_id.uuid.bytes);
    s->tries = pg_get_int4(r, row, 3);
    s->enqueued_at = pg_get_time(r, row, 4);
    s->completed_at = pg_get_time(r, row, 5);
    s->due_at = pg_get_time(r, row, 6);
}

/* A schedule has one shard at least. */
boxcar_status pg_schedule_slices(struct boxcar_store *store, boxcar_str topic, boxcar_str work_key,
                                 struct slice_rows **ret_list, boxcar_error *err) {
    struct slice_rows *list;

    TRY(pg_ask_list(pg_store_of(store), PG_SCHEDULE_SLICES, read_slice, &list, err, P_TEXT(topic),
                    P_TEXT(work_key)));
    if (list->count == 0) {
        list_free(list);
        return store_refuse_schedule(topic, work_key, err);
    }
    *ret_list = list;
    return BOXCAR_OK;
}
