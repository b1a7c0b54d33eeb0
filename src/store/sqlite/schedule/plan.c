/* Planning: what is due is enqueued, in one transaction, by the planner who has the lease. It looks at open
 * slices and at shards that are due, and at nothing that is completed. */
#include <inttypes.h>
#include <string.h>

#include "schedule.h"
#include "store/sqlite/connection/transaction.h"

struct planning {
    const boxcar_plan *plan;
    boxcar_planned planned;
};

/* ---- the lease ---- */

struct lease_row {
    uint8_t owner[16];
    boxcar_time until;
    int64_t fence;
};

static boxcar_status read_lease(struct sqlite_store *store, struct lease_row *ret_row, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_PLANNER_READ);
    bool found;
    TRY(query_step(&query, &found, err));
    if (!found)
        return error_set(err, BOXCAR_E_STORE, "%s: the row of boxcar_schedule_planner is missing",
                         store->base.id);
    TRY(sqlite_schedule_check_row(store, &query, "bii", "the planners' lease", err));
    query_get_id(&query, 0, ret_row->owner);
    ret_row->until = query_get_int(&query, 1);
    ret_row->fence = query_get_int(&query, 2);
    return BOXCAR_OK;
}

/* *ret_until: as long as another planner has it; BOXCAR_TIME_NONE = it is ours, and planned.fence says which
 * one. */
static boxcar_status take_lease(struct sqlite_store *store, struct planning *planning, boxcar_time *ret_until,
                                boxcar_error *err) {
    const boxcar_plan *plan = planning->plan;
    struct lease_row row = {.fence = 0};
    TRY(read_lease(store, &row, err));
    bool ours = memcmp(row.owner, plan->owner.uuid.bytes, sizeof(row.owner)) == 0;
    if (plan->fence > 0 && (!ours || plan->fence != row.fence))
        return error_set(err, BOXCAR_E_CONFLICT,
                         "the fence %" PRId64
                         " is not that of the planners' lease any more: another planner has "
                         "taken it; plan with fence 0 to take it when it is free",
                         plan->fence);
    *ret_until = !ours && row.until > store->now ? row.until : BOXCAR_TIME_NONE;
    if (*ret_until != BOXCAR_TIME_NONE)
        return BOXCAR_OK;
    planning->planned.fence = ours ? row.fence : row.fence + 1;
    return query_do(store, S_PLANNER_WRITE, err, Q_ID(plan->owner.uuid.bytes),
                    Q_INT(store->now + plan->lease_ms * 1000), Q_INT(planning->planned.fence));
}

/* ---- schedules ---- */

struct schedules {
    struct schedule *items; /* in the scratch arena */
    size_t count, capacity;
};

static boxcar_status read_schedule(struct sqlite_store *store, struct query *query,
                                   struct schedule *ret_schedule, boxcar_error *err) {
    *ret_schedule = (struct schedule){.id = query_get_int(query, 0),
                                      .every_ms = query_get_int(query, 3),
                                      .jitter_ms = query_get_int(query, 4),
                                      .shards = (int)query_get_int(query, 5),
                                      .created_at = query_get_int(query, 8),
                                      .joins = query_get_int(query, 9)};
    TRY(query_copy_text(query, 1, &store->scratch, &ret_schedule->topic, err));
    TRY(query_copy_text(query, 2, &store->scratch, &ret_schedule->work_key, err));
    TRY(query_copy_text(query, 6, &store->scratch, &ret_schedule->then_topic, err));
    return query_copy_text(query, 7, &store->scratch, &ret_schedule->else_topic, err);
}

static boxcar_status read_running(struct sqlite_store *store, struct schedules *list, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_SCHEDULES_RUNNING);
    while (query_next(&query)) {
        struct schedule *items =
            arena_make_room(&store->scratch, list->items, list->count, &list->capacity, sizeof(*items));
        if (items == NULL)
            return error_no_memory(err);
        list->items = items;
        TRY(sqlite_schedule_check_row(store, &query, "ittiiiTTii", "a schedule", err));
        TRY(read_schedule(store, &query, &items[list->count++], err));
    }
    return query_status(&query, err);
}

static boxcar_status find_due(struct sqlite_store *store, const struct schedule *schedule, int64_t most,
                              struct slice_list *due, boxcar_error *err) {
    AUTO_QUERY struct query query =
        query_with(store, S_SHARDS_DUE, Q_INT(schedule->id), Q_INT(store->now), Q_INT(most));
    while (query_next(&query)) {
        TRY(sqlite_schedule_check_row(store, &query, "ii", "a shard of a schedule", err));
        const struct slice next = {
            .shard = (int)query_get_int(&query, 0), .number = query_get_int(&query, 1) + 1, .tries = 1};
        TRY(sqlite_slice_add(store, due, &next, err));
    }
    return query_status(&query, err);
}

static boxcar_status plan_one(struct sqlite_store *store, struct planning *planning,
                              const struct schedule *schedule, boxcar_error *err) {
    struct slice_list failed = {.count = 0}, due = {.count = 0};
    int64_t left = planning->plan->most - planning->planned.count;
    TRY(sqlite_slices_look(store, schedule, (size_t)left, &failed, err));
    TRY(sqlite_slices_enqueue_again(store, schedule, &failed, err));
    left -= (int64_t)failed.count;
    if (left > 0)
        TRY(find_due(store, schedule, left, &due, err));
    TRY(sqlite_slices_enqueue_new(store, schedule, &due, err));
    planning->planned.count += (int64_t)(failed.count + due.count);
    return BOXCAR_OK;
}

/* ---- when to plan again ---- */

static void note_time(boxcar_planned *planned, boxcar_time at) {
    if (planned->next_due_at == BOXCAR_TIME_NONE || at < planned->next_due_at)
        planned->next_due_at = at;
}

/* A slice that is open now is followed by none before the cadence of its schedule is over. */
static boxcar_status find_next(struct sqlite_store *store, const struct schedule *schedule,
                               boxcar_planned *planned, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_SHARDS_NEXT, Q_INT(schedule->id));
    bool found;
    TRY(query_step(&query, &found, err));
    if (found && !query_is_null(&query, 0))
        note_time(planned, query_get_int(&query, 0));
    if (found && query_get_int(&query, 1) != 0)
        note_time(planned, store->now + schedule->every_ms * 1000);
    return BOXCAR_OK;
}

/* ---- all of it ---- */

static boxcar_status plan(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct planning *planning = context;
    struct schedules running = {.count = 0};
    boxcar_time until = BOXCAR_TIME_NONE;
    planning->planned = BOXCAR_PLANNED_INIT;
    TRY(take_lease(store, planning, &until, err));
    planning->planned.next_due_at = until;
    if (until != BOXCAR_TIME_NONE)
        return BOXCAR_OK;
    TRY(read_running(store, &running, err));
    for (size_t i = 0; i < running.count && planning->planned.count < planning->plan->most; i++)
        TRY(plan_one(store, planning, &running.items[i], err));
    for (size_t i = 0; i < running.count; i++)
        TRY(find_next(store, &running.items[i], &planning->planned, err));
    if (planning->planned.count == planning->plan->most) /* there may be more */
        planning->planned.next_due_at = store->now;
    return BOXCAR_OK;
}

boxcar_status sqlite_schedule_plan(struct boxcar_store *store, const boxcar_plan *given,
                                   boxcar_planned *ret_planned, boxcar_error *err) {
    struct planning planning = {.plan = given};
    TRY(sqlite_transaction(sqlite_of(store), ACCESS_WRITE, plan, &planning, err));
    *ret_planned = planning.planned;
    return BOXCAR_OK;
}
