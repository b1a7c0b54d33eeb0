/* The thread of a fleet: it starts and ends the loops of the members, and never talks to a store itself. */
#include "fleet.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/options.h"
#include "base/thread.h"
#include "pause.h"
#include "worker/forward/forward.h"

#define WATCH_MS 1000
#define FILE_LOOK_MS_MIN 50
/* A drain gives up a store after so many failures in a row. */
#define DRAIN_FAILURES 3

/* ---- made and freed ---- */

static boxcar_status init(struct fleet *fleet, const boxcar_fleet_options *given, boxcar_error *err) {
    struct boxcar_worker *worker = fleet->worker;
    TRY(discovery_new(given, worker->store.schema, &fleet->discovery, err));
    fleet->options = BOXCAR_FLEET_OPTIONS_INIT;
    TRY(options_read(&fleet->options, sizeof(fleet->options), given, "fleet", err));
    share_init(&fleet->share, &fleet->options);
    fleet->logger = (struct boxcar_store){.log = worker->store.log,
                                          .log_context = worker->store.log_context,
                                          .log_level = worker->store.log_level};
    memcpy(&fleet->random, worker->owner.uuid.bytes + 12, sizeof(fleet->random));
    if (worker->forwarding)
        forwarding_set_stores(worker->forwarding, roster_locate, roster_note_arrival, fleet);
    return BOXCAR_OK;
}

boxcar_status fleet_new(struct boxcar_worker *worker, const boxcar_fleet_options *options,
                        boxcar_error *err) {
    struct fleet *fleet = calloc(1, sizeof(*fleet));
    if (!fleet)
        return error_no_memory(err);
    fleet->worker = worker;
    fleet->end_error = BOXCAR_ERROR_INIT;
    pthread_mutex_init(&fleet->mutex, NULL);
    cond_init(&fleet->roster.changed);
    cond_init(&fleet->caretaker.changed);
    worker->fleet = fleet; /* also when this fails: fleet_free() comes with the worker */
    return init(fleet, options, err);
}

static void free_members(struct fleet *fleet) {
    while (fleet->members) {
        struct member *member = fleet->members;
        fleet->members = member->next;
        member_free(member);
    }
}

void fleet_free(struct fleet *fleet) {
    if (!fleet)
        return;
    free_members(fleet);
    if (fleet->discovery)
        share_release(&fleet->share);
    discovery_free(fleet->discovery);
    pthread_cond_destroy(&fleet->roster.changed);
    pthread_cond_destroy(&fleet->caretaker.changed);
    pthread_mutex_destroy(&fleet->mutex);
    free(fleet);
}

/* ---- what was asked from outside ---- */

void fleet_hurry(struct fleet *fleet) { discovery_hurry(fleet->discovery); }

static void log_shortage(const struct fleet *fleet, const boxcar_error *few) {
    store_log(&fleet->logger, BOXCAR_LOG_WARN, "shortage", NULL, 0, "%s", few->message);
}

/* A worker with some of its threads works. */
static boxcar_status tune_crew(struct fleet *fleet, boxcar_error *err) {
    const struct tuning *tuning = &fleet->worker->tuning;
    boxcar_error few = BOXCAR_ERROR_INIT;
    crew_set_timeout(fleet->crew, tuning->handler_timeout_ms);
    atomic_store(&fleet->worker->count.concurrency, tuning->concurrency);
    atomic_store(&fleet->worker->maintain_ms, tuning->maintain_ms);
    if (crew_resize(fleet->crew, (size_t)tuning->concurrency, &few) == BOXCAR_OK)
        return BOXCAR_OK;
    if (crew_threads(fleet->crew) == 0) {
        if (err)
            *err = few;
        return few.status;
    }
    log_shortage(fleet, &few);
    return BOXCAR_OK;
}

static void tune_member(struct member *member) {
    const struct tuning *tuning = &member->fleet->worker->tuning;
    struct tuning *copy;
    if (tuning->log_level != KEEP_LOG_LEVEL)
        member->logger.log_level = tuning->log_level;
    if (!member_is_active(member) || tuning_copy(tuning, &copy, NULL) != BOXCAR_OK)
        return;
    tuning_free(worker_swap_pending(&member->worker, copy));
    worker_wake(&member->worker);
}

static void apply_tuning(struct fleet *fleet) {
    if (!worker_take_pending(fleet->worker))
        return;
    const struct tuning *tuning = &fleet->worker->tuning;
    if (tuning->log_level != KEEP_LOG_LEVEL) {
        fleet->logger.log_level = tuning->log_level;
        fleet->worker->store.log_level = (boxcar_log_level)tuning->log_level;
    }
    (void)tune_crew(fleet, NULL);
    for (struct member *member = fleet->members; member; member = member->next)
        tune_member(member);
}

static bool is_stopping(const struct fleet *fleet) { return atomic_load(&fleet->worker->stop_requests) > 0; }

static void pass_stops_on(struct fleet *fleet) {
    int requests = atomic_load(&fleet->worker->stop_requests);
    if (requests > 0) {
        atomic_store(&fleet->worker->state, BOXCAR_WORKER_STOPPING);
        forwarding_hurry(fleet->worker->forwarding);
    }
    for (; fleet->stops_passed_on < requests; fleet->stops_passed_on++)
        for (struct member *member = fleet->members; member; member = member->next)
            if (member_is_active(member))
                member_stop(member);
}

/* ---- loops that have ended ---- */

static void stop_whole(struct fleet *fleet) {
    worker_stop(fleet->worker);
    fleet_hurry(fleet);
}

/* What was left unsettled at a stop is how the worker ends; a store that is down then is no failure. */
static void note_end(struct fleet *fleet, const struct member *member) {
    if (member->status == BOXCAR_OK || fleet->end_error.status != BOXCAR_OK)
        return;
    if (member->worker.has_unsettled || member->worker.is_hopeless)
        fleet->end_error = member->err;
    if (member->worker.is_hopeless)
        stop_whole(fleet);
}

static void collect_ended(struct fleet *fleet) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&fleet->mutex);
    for (struct member *member = fleet->members; member; member = member->next) {
        if (!member_is_active(member) || !atomic_load(&member->has_ended))
            continue;
        member_collect(member);
        fleet->active--;
        note_end(fleet, member);
    }
}

/* ---- loops to be started ---- */

/* A drain does not wait for it. */
static bool has_given_up(const struct member *member) { return member->failures >= DRAIN_FAILURES; }

static bool looks_at_files(struct fleet *fleet, int64_t now) {
    int64_t pause_ms = fleet->worker->tuning.poll_ms;
    if (now < fleet->next_watch_ms)
        return false;
    fleet->next_watch_ms = now + (pause_ms > FILE_LOOK_MS_MIN ? pause_ms : FILE_LOOK_MS_MIN);
    return true;
}

static void wake_due(struct fleet *fleet, int64_t now) {
    bool look_at_files = looks_at_files(fleet, now);
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&fleet->mutex);
    for (struct member *member = fleet->members; member; member = member->next) {
        member_take_arrivals(member);
        if (!fleet->worker->drain || (!member->is_drained && !has_given_up(member)))
            member_wake_if_due(member, now, look_at_files);
    }
}

/* It failed before, and has not answered since. */
static bool is_probe(const struct member *member) {
    bool has_answered =
        member_is_active(member) && atomic_load(&member->worker.count.claims) != member->claims_before;
    return member->failures > 0 && !has_answered;
}

/* Stores that are down take up few places, however many they are. */
static size_t probes_allowed(const struct fleet *fleet) {
    size_t most = fleet->share.places / 4 > 0 ? fleet->share.places / 4 : 1;
    for (const struct member *member = fleet->members; member && most > 0; member = member->next)
        most -= member_is_active(member) && is_probe(member);
    return most;
}

/* Starts what it can of a stretch of the list; returns how many wait for a place. */
static size_t start_between(struct fleet *fleet, int64_t after, int64_t up_to, size_t *probes) {
    size_t waiting = 0;
    for (struct member *member = fleet->members; member; member = member->next) {
        int64_t order = member->seat.candidate.order;
        if (order <= after || order > up_to || member->state != BOXCAR_FLEET_WAITING || !member->is_listed ||
            (is_probe(member) && *probes == 0))
            continue;
        if (waiting > 0 || !member_start(member)) {
            waiting++;
            continue;
        }
        *probes -= is_probe(member);
        fleet->last_placed = order;
        fleet->active++;
    }
    return waiting;
}

/* In turn, so that each store gets its place. */
static void start_waiting(struct fleet *fleet) {
    size_t probes = probes_allowed(fleet), waiting;
    int64_t last = fleet->last_placed;
    pthread_mutex_lock(&fleet->mutex);
    waiting = start_between(fleet, last, INT64_MAX, &probes);
    waiting += start_between(fleet, 0, last, &probes);
    pthread_mutex_unlock(&fleet->mutex);
    share_set_waiting(&fleet->share, waiting);
    share_set_horizon(&fleet->share, pause_idle_longest_ms(fleet->count, fleet->options.look_ms),
                      pause_file_ms(fleet->options.look_ms));
}

/* ---- the end of a drain ---- */

static int64_t count_claimed(const struct fleet *fleet) {
    struct forwarding *forwarding = fleet->worker->forwarding;
    int64_t claimed = atomic_load(&fleet->gone.claimed) + (forwarding ? forwarding_count(forwarding) : 0);
    for (const struct member *member = fleet->members; member; member = member->next)
        claimed += atomic_load(&member->worker.count.claimed);
    return claimed;
}

static bool all_are_drained(const struct fleet *fleet) {
    for (const struct member *member = fleet->members; member; member = member->next)
        if (!member->is_drained && !has_given_up(member))
            return false;
    return fleet->active == 0;
}

static void tell_given_up(struct fleet *fleet) {
    size_t count = 0;
    const struct member *first = NULL;
    for (const struct member *member = fleet->members; member; member = member->next) {
        if (!has_given_up(member))
            continue;
        count++;
        first = first ? first : member;
    }
    if (first)
        error_set(&fleet->end_error, BOXCAR_E_UNAVAILABLE, "%zu of %zu stores could not be used: %.200s: %s",
                  count, fleet->count, first->store.id, first->failure.message);
}

/* Handlers for one store may have fed another one that was drained before: nothing came in a whole pass. */
static void end_if_drained(struct fleet *fleet) {
    if (!fleet->worker->drain || is_stopping(fleet) || !all_are_drained(fleet))
        return;
    int64_t claimed = count_claimed(fleet);
    if (claimed == fleet->drain_claimed) {
        tell_given_up(fleet);
        fleet->done = true;
        return;
    }
    fleet->drain_claimed = claimed;
    pthread_mutex_lock(&fleet->mutex);
    for (struct member *member = fleet->members; member; member = member->next) {
        if (has_given_up(member))
            continue;
        member->is_drained = false;
        member->state = BOXCAR_FLEET_WAITING;
    }
    pthread_mutex_unlock(&fleet->mutex);
}

/* ---- the loop ---- */

/* Of those that are not going to be woken no time counts. */
static bool may_wake(const struct fleet *fleet, const struct member *member) {
    return !fleet->worker->drain || (!member->is_drained && !has_given_up(member));
}

static int64_t next_event(const struct fleet *fleet, int64_t now) {
    int64_t at = now + WATCH_MS;
    for (const struct member *member = is_stopping(fleet) ? NULL : fleet->members; member;
         member = member->next) {
        if (!may_wake(fleet, member))
            continue;
        bool is_idle = member->state == BOXCAR_FLEET_IDLE;
        if ((is_idle || member->state == BOXCAR_FLEET_DOWN) && member->next_look_ms < at)
            at = member->next_look_ms;
        if (is_idle && member->path && fleet->next_watch_ms < at)
            at = fleet->next_watch_ms;
    }
    return at;
}

static void wait_for_event(const struct fleet *fleet, int64_t now) {
    struct pollfd own = {.fd = fleet->worker->wake_fd, .events = POLLIN};
    int64_t ms = next_event(fleet, now) - clock_ms();
    if (ms > 0)
        (void)poll(&own, 1, (int)ms);
    uint64_t count;
    (void)!read(own.fd, &count, sizeof(count));
}

static void publish_state(const struct fleet *fleet) {
    size_t down = 0;
    for (const struct member *member = fleet->members; member; member = member->next)
        down += is_probe(member);
    if (atomic_load(&fleet->worker->state) != BOXCAR_WORKER_STOPPING)
        atomic_store(&fleet->worker->state,
                     down > 0 && down == fleet->count ? BOXCAR_WORKER_DETACHED : BOXCAR_WORKER_RUNNING);
}

static void turn(struct fleet *fleet) {
    int64_t now = clock_ms();
    atomic_store(&fleet->worker->turned_at_ms, now);
    apply_tuning(fleet);
    collect_ended(fleet);
    roster_apply(fleet);
    roster_sweep(fleet);
    pass_stops_on(fleet);
    publish_state(fleet);
    if (is_stopping(fleet)) {
        fleet->done = fleet->active == 0;
    } else {
        wake_due(fleet, now);
        end_if_drained(fleet);
        if (!fleet->done)
            start_waiting(fleet);
    }
    if (!fleet->done)
        wait_for_event(fleet, now);
}

static void log_start(const struct fleet *fleet) {
    const boxcar_log_field source = {"source", boxcar_str_of(discovery_source(fleet->discovery))};
    store_log(&fleet->logger, BOXCAR_LOG_INFO, "fleet", &source, 1,
              "serving %zu stores with at most %d connections", fleet->count, fleet->options.connections);
}

static boxcar_status begin(struct fleet *fleet, boxcar_error *err) {
    TRY(crew_open(fleet->worker->handlers, &fleet->crew, err));
    TRY(tune_crew(fleet, err));
    TRY(roster_begin(fleet, err));
    log_start(fleet);
    upkeep_begin(fleet);
    return BOXCAR_OK;
}

boxcar_status fleet_run(struct fleet *fleet, boxcar_error *err) {
    atomic_store(&fleet->worker->turned_at_ms, clock_ms());
    boxcar_status status = begin(fleet, err);
    while (status == BOXCAR_OK && !fleet->done)
        turn(fleet);
    forwarding_end(fleet->worker->forwarding);
    upkeep_end(fleet);
    roster_end(fleet);
    crew_close(fleet->crew);
    fleet->crew = NULL;
    atomic_store(&fleet->worker->state, BOXCAR_WORKER_STOPPED);
    if (status == BOXCAR_OK && fleet->end_error.status != BOXCAR_OK) {
        status = fleet->end_error.status;
        if (err)
            *err = fleet->end_error;
    }
    return status;
}

/* ---- what others read ---- */

static void add(boxcar_worker_stats *stats, struct worker_counters *count) {
    stats->queued += atomic_load(&count->queued);
    stats->running += atomic_load(&count->running);
    stats->claims += atomic_load(&count->claims);
    stats->claimed += atomic_load(&count->claimed);
    stats->given_back += atomic_load(&count->given_back);
    stats->unhandled += atomic_load(&count->unhandled);
    stats->leases_renewed += atomic_load(&count->leases_renewed);
    stats->leases_lost += atomic_load(&count->leases_lost);
    stats->reaped += atomic_load(&count->reaped);
    stats->store_errors += atomic_load(&count->store_errors);
    stats->detachments += atomic_load(&count->detachments);
    stats->handlers_abandoned += atomic_load(&count->handlers_abandoned);
    stats->held_up += atomic_load(&count->held_up);
}

void fleet_add_counters(struct fleet *fleet, boxcar_worker_stats *stats) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&fleet->mutex);
    add(stats, &fleet->gone);
    for (struct member *member = fleet->members; member; member = member->next)
        add(stats, &member->worker.count);
}

struct fleet_rows {
    LIST_OF(boxcar_fleet_store);
};

/* Under the mutex. What is no longer listed is leaving, whatever it does. */
static bool add_row(struct fleet_rows *rows, struct member *member) {
    struct worker_counters *count = &member->worker.count;
    boxcar_fleet_store row = {.state = member->is_listed ? member->state : BOXCAR_FLEET_LEAVING,
                              .claims = atomic_load(&count->claims),
                              .claimed = atomic_load(&count->claimed),
                              .held = atomic_load(&count->queued) + atomic_load(&count->running),
                              .reaped = atomic_load(&count->reaped),
                              .store_errors = atomic_load(&count->store_errors),
                              .failures = member->failures};
    boxcar_str id, error = member->failures > 0 ? boxcar_str_of(member->failure.message) : BOXCAR_NO_STR;
    if (!arena_copy_str(&rows->arena, boxcar_str_of(member->store.id), &id) ||
        !arena_copy_str(&rows->arena, member->store.key, &row.key) ||
        !arena_copy_str(&rows->arena, error, &row.error))
        return false;
    row.id = id.data;
    boxcar_fleet_store *place = list_add(rows, sizeof(*place));
    if (place)
        *place = row;
    return place != NULL;
}

boxcar_status fleet_read(struct fleet *fleet, boxcar_fleet_store_list **ret_list, boxcar_error *err) {
    struct fleet_rows *rows = calloc(1, sizeof(*rows));
    bool whole = rows != NULL;
    if (fleet)
        pthread_mutex_lock(&fleet->mutex);
    for (struct member *member = fleet ? fleet->members : NULL; member && whole; member = member->next)
        whole = add_row(rows, member);
    if (fleet)
        pthread_mutex_unlock(&fleet->mutex);
    if (whole)
        return LIST_GIVE(rows, ret_list, err);
    list_free(rows);
    return error_no_memory(err);
}
