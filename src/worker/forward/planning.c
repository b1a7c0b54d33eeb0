/* Scheduled fanout: one of the workers of a store plans, under a lease (boxcar/schedule.h). */
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/utf8.h"
#include "state.h"

#define PLAN_LONGEST_MS 30000
#define PLAN_REST_MS 3600000 /* clocks may differ */
#define PLAN_SHORTEST_MS 100
/* Slices that fail come again: who holds the lease looks for them soon after it has enqueued some, then less
 * often. What is done does not wait for that: no slice follows before the store's next time. */
#define PLAN_LOOK_MS 2000
#define PLAN_MOST 1000

static int64_t wall_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t planning_look_ms(const struct source *source, const boxcar_planned *planned) {
    int64_t longest_ms = source->lease_ms / 2 < PLAN_LONGEST_MS ? source->lease_ms / 2 : PLAN_LONGEST_MS;
    int64_t ms = planned->count > 0 || source->plan.look_ms == 0 ? PLAN_LOOK_MS : source->plan.look_ms * 2;
    return planned->fence == 0 ? 0 : ms < longest_ms ? ms : longest_ms;
}

static int64_t at_least(int64_t ms, int64_t least_ms) { return ms > least_ms ? ms : least_ms; }

int64_t planning_pause_ms(const struct source *source, const boxcar_planned *planned, int64_t due_in_ms) {
    bool rests = !source->awake && planned->count == 0;
    int64_t longest_ms = rests                ? PLAN_REST_MS
                         : planned->fence > 0 ? planning_look_ms(source, planned)
                                              : PLAN_LONGEST_MS;
    return at_least(due_in_ms < longest_ms ? due_in_ms : longest_ms, PLAN_SHORTEST_MS);
}

/* As the clock of this machine goes. If it is wrong, it plans too often, or later. */
static int64_t due_in_ms(boxcar_time due_at) { return due_at / 1000 - wall_ms(); }

static void log_planned(const struct boxcar_store *store, const boxcar_planned *planned) {
    if (planned->count > 0)
        store_log(store, BOXCAR_LOG_INFO, "plan", NULL, 0, "%lld slices of schedules were enqueued",
                  (long long)planned->count);
}

void planning_take(struct source *source, const boxcar_planned *planned, int64_t now_ms) {
    bool has_more = planned->count >= PLAN_MOST;
    source->plan.fence = planned->fence;
    source->plan.due_at = planned->next_due_at;
    source->plan.is_wanted = planned->next_due_at != BOXCAR_TIME_NONE;
    source->plan.next_ms = now_ms;
    if (!has_more)
        source->plan.next_ms += planning_pause_ms(source, planned, due_in_ms(planned->next_due_at));
    source->plan.look_ms = planning_look_ms(source, planned);
}

void planning_hear(struct source *source, boxcar_time due_at, int64_t now_ms) {
    if (due_at == BOXCAR_TIME_NONE || due_at >= source->plan.due_at || source->plan.is_busy ||
        breaker_is_open(&source->plan.breaker))
        return;
    int64_t at_ms = now_ms + at_least(due_in_ms(due_at), PLAN_SHORTEST_MS);
    source->plan.due_at = due_at;
    if (at_ms < source->plan.next_ms)
        source->plan.next_ms = at_ms;
}

/* Another one has the lease now, perhaps for a moment only. */
static boxcar_planned lost(void) {
    boxcar_planned planned = BOXCAR_PLANNED_INIT;
    planned.next_due_at = 0;
    return planned;
}

static bool ask(struct forwarding *forwarding, const struct source *source, int64_t lease_ms,
                boxcar_planned *ret_planned, boxcar_error *err) {
    struct boxcar_store *store;
    bool is_used;
    boxcar_plan plan = BOXCAR_PLAN_INIT;
    boxcar_planned planned = BOXCAR_PLANNED_INIT;
    if (pool_take(forwarding, &source->options, source->id, &store, &is_used, err) != BOXCAR_OK)
        return false;
    plan.owner = forwarding->owner;
    plan.lease_ms = lease_ms;
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

bool planning_visit(struct forwarding *forwarding, const struct source *source, boxcar_planned *ret_planned,
                    boxcar_error *err) {
    return ask(forwarding, source, source->lease_ms, ret_planned, err);
}

void planning_end(struct forwarding *forwarding) {
    for (const struct source *source = forwarding->sources; source; source = source->next) {
        boxcar_planned planned = BOXCAR_PLANNED_INIT;
        if (source->plan.fence > 0 && !source->is_gone && !breaker_is_open(&source->breaker))
            (void)ask(forwarding, source, BOXCAR_LEASE_MS_MIN, &planned, NULL);
    }
}
