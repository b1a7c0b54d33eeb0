/* What the loop does for forwarding (forward/forward.h): it has a connection anyway. So it reads the policies
 * of its store now and then, wakes up for their messages, and says so. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/list.h"
#include "pump.h"
#include "worker/forward/forward.h"

#define READ_MS 5000
#define READ_PAUSED_MS 30000 /* schedules, while there are some and none runs: that costs something */

static struct forwarding *forwarding_of(const struct pump *pump) { return pump->worker->forwarding; }

bool pump_forwards(const struct pump *pump) { return forwarding_of(pump) != NULL; }

bool pump_may_forward(const struct pump *pump) {
    return pump_forwards(pump) && (!pump->routes.rows || pump->routes.rows->count > 0 ||
                                   forwarding_plans(forwarding_of(pump), pump->store->id));
}

/* ---- policies ---- */

static size_t count_patterns(const struct pump *pump, int box) {
    const struct subscription_rows *rows = pump->routes.rows;
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++)
        if (rows->items[i].box == box && rows->items[i].destination_count > 0)
            count += rows->items[i].pattern_count;
    return count;
}

/* What a nap waits for: the handlers' topics first, then those of the policies. */
static bool make_patterns(struct pump *pump, int box) {
    const struct subscription_rows *rows = pump->routes.rows;
    const struct pump_box *own = &pump->boxes[box];
    size_t more = count_patterns(pump, box), count = 0;
    free(pump->routes.patterns[box]);
    pump->routes.pattern_count[box] = 0;
    pump->routes.patterns[box] = calloc(own->pattern_count + more + 1, sizeof(boxcar_str));
    if (!pump->routes.patterns[box])
        return false;
    pump->routes.has_routes[box] = more > 0;
    for (size_t i = 0; own->reader == box && i < own->pattern_count; i++)
        pump->routes.patterns[box][count++] = own->patterns[i];
    pump->routes.own_count[box] = count;
    for (size_t i = 0; i < rows->count; i++)
        for (size_t n = 0; rows->items[i].box == box && rows->items[i].destination_count > 0 &&
                           n < rows->items[i].pattern_count;
             n++)
            pump->routes.patterns[box][count++] = rows->items[i].patterns[n];
    pump->routes.pattern_count[box] = count;
    return true;
}

static void take_rows(struct pump *pump, struct subscription_rows *rows) {
    list_free(pump->routes.rows);
    pump->routes.rows = rows;
    for (int box = 0; box < BOXES; box++)
        if (!make_patterns(pump, box))
            pump->routes.has_routes[box] = false; /* no memory: found at the next poll */
}

static bool read_policies(struct pump *pump) {
    const struct subscription_choice choice = {.of_policy = true, .is_brief = true};
    struct subscription_rows *rows;
    if (pump->store->ops->subscription_read(pump->store, &choice, &rows, NULL) != BOXCAR_OK)
        return false; /* the loop will notice that the store is away */
    forwarding_offer(forwarding_of(pump), pump->worker, pump->store, rows);
    take_rows(pump, rows);
    return true;
}

/* ---- schedules ---- */

/* *ret_due_at: the first time that something is due, as far as that is known. */
static bool runs_any(const struct schedule_rows *rows, boxcar_time *ret_due_at) {
    bool runs = false;
    *ret_due_at = BOXCAR_TIME_NONE;
    for (size_t i = 0; i < rows->count; i++) {
        boxcar_time due_at = rows->items[i].next_due_at;
        if (rows->items[i].paused_at != BOXCAR_TIME_NONE)
            continue;
        runs = true;
        if (due_at != BOXCAR_TIME_NONE && (*ret_due_at == BOXCAR_TIME_NONE || due_at < *ret_due_at))
            *ret_due_at = due_at;
    }
    return runs;
}

/* A loop that begins always asks: while it rested, nobody planned before the time that was known. */
static void read_schedules(struct pump *pump) {
    struct schedule_rows *rows;
    boxcar_time due_at;
    bool is_planned = forwarding_plans(forwarding_of(pump), pump->store->id);
    if (pump->now_ms < pump->routes.next_schedules_ms || (is_planned && pump->routes.next_schedules_ms > 0) ||
        pump->store->ops->schedule_read(pump->store, BOXCAR_NO_STR, BOXCAR_NO_STR, &rows, NULL) != BOXCAR_OK)
        return;
    pump->routes.next_schedules_ms = pump->now_ms + (rows->count > 0 ? READ_PAUSED_MS : READ_MS);
    if (runs_any(rows, &due_at))
        forwarding_plan(forwarding_of(pump), pump->worker, pump->store, due_at);
    list_free(rows);
}

/* ---- the loop ---- */

void pump_read_routes(struct pump *pump) {
    if (!pump_forwards(pump) || pump->now_ms < pump->routes.next_ms || !pump_is_attached(pump) ||
        pump->stopping)
        return;
    pump->routes.next_ms = pump->now_ms + READ_MS;
    if (read_policies(pump))
        read_schedules(pump);
}

int64_t pump_next_routes_ms(const struct pump *pump) {
    return pump_forwards(pump) && !pump->stopping ? pump->routes.next_ms : INT64_MAX;
}

bool pump_naps_for_routes(const struct pump *pump) {
    return pump_forwards(pump) && pump_is_attached(pump) && !pump->stopping &&
           (pump->routes.has_routes[BOXCAR_OUTBOX] || pump->routes.has_routes[BOXCAR_INBOX]) &&
           forwarding_waits(forwarding_of(pump), pump->store->id);
}

void pump_add_routes(const struct pump *pump, struct nap *nap) {
    for (int box = 0; box < BOXES; box++) {
        if (!pump->routes.has_routes[box])
            continue;
        size_t left_out = nap->boxes[box].awaited ? 0 : pump->routes.own_count[box];
        nap->boxes[box].awaited = true;
        nap->boxes[box].topics = pump->routes.patterns[box] + left_out;
        nap->boxes[box].topic_count = pump->routes.pattern_count[box] - left_out;
    }
}

void pump_stop_routes(const struct pump *pump) {
    if (!pump_seat(pump))
        forwarding_hurry(forwarding_of(pump));
}

bool pump_poke_routes(const struct pump *pump) {
    return pump_forwards(pump) && forwarding_poke(forwarding_of(pump), pump->store->id);
}

void pump_release_routes(struct pump *pump) {
    if (pump_forwards(pump) && pump->store)
        forwarding_rest(forwarding_of(pump), pump->store->id);
    list_free(pump->routes.rows);
    for (int box = 0; box < BOXES; box++)
        free(pump->routes.patterns[box]);
}

/* ---- a drain ---- */

static void tell_excused(struct pump *pump, const boxcar_subscription *row, const char *why) {
    const boxcar_log_field field = {"route", row->name};
    if (!pump->worker->drain || pump->now_ms < pump->routes.next_tell_ms)
        return;
    store_log(pump_logger(pump), BOXCAR_LOG_INFO, "drain", &field, 1,
              "the drain does not wait for this route: %s", why);
}

static boxcar_status is_forwarded(struct pump *pump, const boxcar_subscription *row, int64_t horizon_ms,
                                  bool *ret_drained, boxcar_error *err) {
    const char *why;
    struct forwarding *forwarding = forwarding_of(pump);
    if (row->destination_count == 0)
        return BOXCAR_OK;
    if (forwarding_is_excused(forwarding, pump->store->id, row->reader, &why)) {
        tell_excused(pump, row, why);
        return BOXCAR_OK;
    }
    if (forwarding_has_away(forwarding, pump->store->id, row->reader))
        horizon_ms = 0;
    return pump->store->ops->is_drained(pump->store, row->reader, row->patterns, row->pattern_count,
                                        BOXCAR_NO_STR, horizon_ms, ret_drained, err);
}

/* Routes are asked one after the other: a visit may have made copies for one that had nothing. */
static bool is_still(const struct pump *pump, int64_t moved) {
    struct forwarding *forwarding = forwarding_of(pump);
    return !forwarding_is_busy(forwarding, pump->store->id) &&
           forwarding_moved(forwarding, pump->store->id) == moved;
}

/* The newest policies count: one may have been added since. */
boxcar_status pump_routes_are_drained(struct pump *pump, int64_t horizon_ms, bool *ret_drained,
                                      boxcar_error *err) {
    const struct subscription_choice choice = {.of_policy = true, .is_brief = true};
    struct subscription_rows *rows;
    *ret_drained = true;
    if (!pump_forwards(pump))
        return BOXCAR_OK;
    TRY(pump->store->ops->subscription_read(pump->store, &choice, &rows, err));
    forwarding_offer(forwarding_of(pump), pump->worker, pump->store, rows);
    take_rows(pump, rows);
    int64_t moved = forwarding_moved(forwarding_of(pump), pump->store->id);
    for (size_t i = 0; i < rows->count && *ret_drained; i++)
        TRY(is_forwarded(pump, &rows->items[i], horizon_ms, ret_drained, err));
    *ret_drained = *ret_drained && is_still(pump, moved);
    pump->routes.next_tell_ms = pump->now_ms + READ_MS;
    if (!*ret_drained)
        (void)pump_poke_routes(pump);
    return BOXCAR_OK;
}
