/* Upkeep of all members, one after the other on a thread of its own: never more than one connection, and
 * spread over the interval. A store that is down is left out, an idle one comes less often. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/thread.h"
#include "fleet.h"

/* An idle store needs less. */
#define IDLE_ROUNDS 10
#define LOOK_MS 1000

/* Under the mutex. The first round of a new member is some time within the interval. */
static void plan_first(struct fleet *fleet, struct member *member, int64_t now, int64_t interval_ms) {
    double chance = rand_r(&fleet->random) / (RAND_MAX + 1.0);
    if (member->next_upkeep_ms == 0)
        member->next_upkeep_ms = now + (int64_t)((double)interval_ms * (0.2 + 0.8 * chance));
}

static struct member *find_due(struct fleet *fleet, int64_t now, int64_t interval_ms) {
    struct member *due = NULL;
    for (struct member *member = fleet->members; member; member = member->next) {
        plan_first(fleet, member, now, interval_ms);
        if (member->is_listed && member->failures == 0 && member->next_upkeep_ms <= now &&
            (!due || member->next_upkeep_ms < due->next_upkeep_ms))
            due = member;
    }
    return due;
}

static void look_after(struct fleet *fleet, struct member *member, int64_t interval_ms) {
    member->in_upkeep = true;
    fleet->caretaker.busy = member->keeper;
    pthread_mutex_unlock(&fleet->mutex);
    keeper_round(member->keeper);
    pthread_mutex_lock(&fleet->mutex);
    fleet->caretaker.busy = NULL;
    member->in_upkeep = false;
    member->next_upkeep_ms =
        clock_ms() + interval_ms * (member->state == BOXCAR_FLEET_IDLE ? IDLE_ROUNDS : 1);
}

static void *keep(void *context) {
    struct fleet *fleet = context;
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&fleet->mutex);
    while (!fleet->caretaker.stopping) {
        int64_t now = clock_ms(), interval_ms = atomic_load(&fleet->worker->maintain_ms);
        struct member *due = interval_ms > 0 ? find_due(fleet, now, interval_ms) : NULL;
        if (due)
            look_after(fleet, due, interval_ms);
        else
            (void)cond_wait_until(&fleet->caretaker.changed, &fleet->mutex,
                                  now + (interval_ms > 0 && interval_ms < LOOK_MS ? interval_ms : LOOK_MS));
    }
    return NULL;
}

void upkeep_begin(struct fleet *fleet) {
    fleet->caretaker.has_thread = thread_start(&fleet->caretaker.thread, keep, fleet) == 0;
    if (!fleet->caretaker.has_thread)
        store_log(&fleet->logger, BOXCAR_LOG_WARN, "maintain", NULL, 0,
                  "no thread for upkeep could be started: run `boxcar maintain` separately");
}

void upkeep_end(struct fleet *fleet) {
    if (!fleet->caretaker.has_thread)
        return;
    pthread_mutex_lock(&fleet->mutex);
    fleet->caretaker.stopping = true;
    if (fleet->caretaker.busy)
        keeper_hurry(fleet->caretaker.busy);
    pthread_cond_broadcast(&fleet->caretaker.changed);
    pthread_mutex_unlock(&fleet->mutex);
    pthread_join(fleet->caretaker.thread, NULL);
    fleet->caretaker.has_thread = false;
}
