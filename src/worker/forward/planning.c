/* Scheduled fanout: one of the workers of a store plans, under a lease (boxcar/schedule.h). */
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/utf8.h"
#include "state.h"

#define PLAN_LONGEST_MS 30000
#define PLAN_SHORTEST_MS 100
/* Slices that end make new ones due: who holds the lease looks for them so often. */
#define PLAN_LOOK_MS 2000
#define PLAN_MOST 1000

static int64_t wall_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* As the clock of this machine goes. If it is wrong, it plans too often, or later. */
static int64_t pause_until(boxcar_time due_at, int64_t longest_ms) {
    int64_t ms = due_at / 1000 - wall_ms();
    return ms < PLAN_SHORTEST_MS ? PLAN_SHORTEST_MS : ms < longest_ms ? ms : longest_ms;
}

static int64_t longest_of(const struct source *source, bool is_mine) {
    int64_t longest = is_mine ? PLAN_LOOK_MS : PLAN_LONGEST_MS;
    int64_t half = source->lease_ms / 2;
    return is_mine && half < longest ? half : longest;
}

static void log_planned(const struct boxcar_store *store, const boxcar_planned *planned) {
    if (planned->count > 0)
        store_log(store, BOXCAR_LOG_INFO, "plan", NULL, 0, "%lld slices of schedules were enqueued",
                  (long long)planned->count);
}

void planning_take(struct source *source, const boxcar_planned *planned, int64_t now_ms) {
    bool has_more = planned->count >= PLAN_MOST;
    int64_t longest_ms = longest_of(source, planned->fence > 0);
    source->plan.fence = planned->fence;
    source->plan.is_wanted = planned->next_due_at != BOXCAR_TIME_NONE;
    source->plan.next_ms = has_more ? now_ms : now_ms + pause_until(planned->next_due_at, longest_ms);
}

/* Another one has the lease now, perhaps for a moment only. */
static boxcar_planned lost(void) {
    boxcar_planned planned = BOXCAR_PLANNED_INIT;
    planned.next_due_at = 0;
    return planned;
}

bool planning_visit(struct forwarding *forwarding, const struct source *source, boxcar_planned *ret_planned,
                    boxcar_error *err) {
    struct boxcar_store *store;
    bool is_used;
    boxcar_plan plan = BOXCAR_PLAN_INIT;
    boxcar_planned planned = BOXCAR_PLANNED_INIT;
    if (pool_take(forwarding, &source->options, source->id, &store, &is_used, err) != BOXCAR_OK)
        return false;
    plan.owner = forwarding->owner;
    plan.lease_ms = source->lease_ms;
    plan.fence = source->plan.fence;
    plan.most = PLAN_MOST;
    boxcar_status status = store->ops->schedule_plan(store, &plan, &planned, err);
    bool is_lost = status == BOXCAR_E_CONFLICT;
    if (status == BOXCAR_OK)
        log_planned(store, &planned);
    pool_give(forwarding, store, source->id, status == BOXCAR_OK || is_lost);
    if (status != BOXCAR_OK && !is_lost)
        return false;
    *ret_planned = is_lost ? lost() : planned;
    return true;
}
