#include "coordinator.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/thread.h"
#include "flusher.h"

#define BUSY_MS 100 /* while another thread has the turn */
#define PATIENCE 8  /* undecided refusals in a flush; twice as many after each failure */

/* Whether a store that cannot be reached is waited for, as it is by the single calls. */
enum manner { PATIENT, IMPATIENT };

/* ---- the turn ---- */

static void take_turn(struct boxcar_coordinator *c) { /* mutex held */
    while (c->taken)
        pthread_cond_wait(&c->turn_ended, &c->mutex);
    c->taken = true;
}

static void end_turn(struct boxcar_coordinator *c) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&c->mutex);
    c->taken = false;
    pthread_cond_broadcast(&c->turn_ended);
}

/* ---- the end ---- */

static bool is_closed(struct boxcar_coordinator *c) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&c->mutex);
    return c->closed;
}

static boxcar_status refuse_closed(boxcar_error *err) {
    return error_invalid(err, "coordinator",
                         "coordinator is closed: make another one with boxcar_coordinator_new()");
}

/* ---- the queue; mutex held ---- */

static bool open_generation(struct boxcar_coordinator *c, uint64_t first) {
    struct generation *generation = c->spare ? c->spare : generation_new();
    c->spare = NULL;
    if (!generation)
        return false;
    generation_reset(generation, first);
    *(c->tail ? &c->tail->next : &c->head) = generation;
    c->tail = generation;
    return true;
}

static bool add(struct boxcar_coordinator *c, const struct operation *operation) {
    if ((!c->tail || c->tail->sealed || !generation_fits(c->tail, operation)) &&
        !open_generation(c, c->next_ticket))
        return false;
    if (!generation_add(c->tail, operation))
        return false;
    c->next_ticket++;
    c->queued++;
    return true;
}

/* Takes back what one call has added: every ticket from `first` on. */
static void take_back(struct boxcar_coordinator *c, uint64_t first) {
    for (struct generation *g = c->head; g; g = g->next) {
        if (g->sealed || g->first + g->count < first)
            continue;
        generation_truncate(g, g->first < first ? (size_t)(first - g->first) : 0);
        if (g->count == 0)
            g->first = first; /* it stays, empty: its tickets are given again */
    }
    c->queued -= (size_t)(c->next_ticket - first);
    c->next_ticket = first;
}

static boxcar_status add_all(struct boxcar_coordinator *c, const struct operations *operations,
                             uint64_t *ticket, boxcar_error *err) {
    uint64_t first = c->next_ticket;
    if (c->closed)
        return refuse_closed(err);
    for (size_t i = 0; i < operations->count; i++) {
        struct operation operation;
        operations->get(operations->from, i, &operation);
        if (add(c, &operation))
            continue;
        take_back(c, first);
        return error_no_memory(err);
    }
    *ticket = first;
    if (c->has_thread && schedule_queued(&c->schedule, clock_ms()))
        pthread_cond_signal(&c->changed);
    return BOXCAR_OK;
}

static bool has_room(const struct boxcar_coordinator *c, const struct operations *operations) {
    return c->queued <= c->queue_max && operations->count <= c->queue_max - c->queued;
}

/* Forgets generations that are through. */
static void drop_decided(struct boxcar_coordinator *c) {
    while (c->head && c->head->sealed && c->head->decided == c->head->count) {
        struct generation *through = c->head;
        c->head = through->next;
        if (!c->head)
            c->tail = NULL;
        if (c->spare) {
            generation_free(through);
            continue;
        }
        generation_reset(through, 0);
        c->spare = through;
    }
}

/* ---- one flush ---- */

/* One line when the store goes away and one when it is back. */
static void log_change(const struct boxcar_coordinator *c, int failures_before, const boxcar_error *why) {
    if (c->schedule.failures > 0 && failures_before == 0)
        store_log(c->store, BOXCAR_LOG_WARN, "flush", NULL, 0,
                  "the flush failed, everything stays queued: %s", why->message);
    else if (c->schedule.failures == 0 && failures_before > 0)
        store_log(c->store, BOXCAR_LOG_INFO, "flush", NULL, 0, "the store takes the queued operations again");
}

static void settle_accounts(struct boxcar_coordinator *c, const struct flush *flush) {
    int failures_before = c->schedule.failures;
    pthread_mutex_lock(&c->mutex);
    c->queued -= flush->base.count;
    drop_decided(c);
    schedule_flushed(&c->schedule, c->queued, flush->error.status != BOXCAR_OK, clock_ms());
    if (c->has_thread && c->presence.next_ms == SCHEDULE_NEVER && presence_has_work(&c->presence)) {
        c->presence.next_ms = clock_ms();
        pthread_cond_signal(&c->changed);
    }
    pthread_mutex_unlock(&c->mutex);
    log_change(c, failures_before, &flush->error);
}

/* Only with the turn: seals the queued operations. Later operations go into new generations behind them. */
static struct flusher plan(struct boxcar_coordinator *c, const boxcar_flush_options *asked) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&c->mutex);
    for (struct generation *g = c->head; g; g = g->next)
        g->sealed = true;
    return (struct flusher){.store = c->store,
                            .owner = c->owner,
                            .head = c->head,
                            .last = c->tail,
                            .asked = asked,
                            .stale_threshold_ms = c->has_thread ? 0 : c->presence.stale_threshold_ms,
                            .patience = (size_t)PATIENCE
                                        << (c->schedule.failures < 24 ? c->schedule.failures : 24)};
}

static boxcar_status run_flush(struct boxcar_coordinator *c, const boxcar_flush_options *asked,
                               enum manner manner, struct flush **told, boxcar_error *err) {
    struct flusher flusher = plan(c, asked);
    uint64_t first = flusher.head ? flusher.head->first + flusher.head->decided : 0;
    size_t room = flusher.head ? (size_t)(flusher.last->first + flusher.last->count - first) : 0;
    *told = NULL;
    if (room == 0 && !asked) {
        AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&c->mutex);
        drop_decided(c);
        return BOXCAR_OK;
    }
    flusher.flush = flush_new(first, room);
    if (!flusher.flush)
        return error_no_memory(err);
    if (c->has_thread)
        presence_note(&c->presence, flusher.head, flusher.last, asked);
    bool impatient = c->store->impatient;
    c->store->impatient = manner == IMPATIENT;
    boxcar_status status = flusher_run(&flusher, err);
    c->store->impatient = impatient;
    settle_accounts(c, flusher.flush);
    *told = flusher.flush;
    return status;
}

static bool is_empty(const struct flush *flush) {
    size_t messages = 0;
    for (int box = 0; box < BOXES; box++)
        messages += flush->claimed[box].count + flush->returned[box].count;
    return flush->base.count == 0 && messages == 0 && flush->error.status == BOXCAR_OK;
}

/* Ends the turn and reports the flush to on_flush. The flush goes to `told`, or is freed if that is NULL. */
static void finish(struct boxcar_coordinator *c, struct flush *flush, boxcar_flush **told) {
    boxcar_flush *base = flush ? &flush->base : NULL;
    end_turn(c);
    if (flush && c->on_flush && !is_empty(flush))
        c->on_flush(c->on_flush_context, base);
    if (told)
        *told = base;
    else
        boxcar_flush_free(base);
}

static boxcar_status flush_now(struct boxcar_coordinator *c, const boxcar_flush_options *asked,
                               enum manner manner, boxcar_flush **told, boxcar_error *err) {
    pthread_mutex_lock(&c->mutex);
    take_turn(c);
    pthread_mutex_unlock(&c->mutex);
    struct flush *flush;
    boxcar_status status = run_flush(c, asked, manner, &flush, err);
    finish(c, flush, told);
    return status;
}

void coordinator_flush_at_once(struct boxcar_coordinator *c, boxcar_flush **told) {
    pthread_mutex_lock(&c->mutex);
    bool is_free = !c->taken && !c->has_thread && !c->closed;
    if (is_free)
        c->taken = true;
    pthread_mutex_unlock(&c->mutex);
    if (!is_free)
        return;
    struct flush *flush;
    (void)run_flush(c, NULL, IMPATIENT, &flush, NULL);
    finish(c, flush, told);
}

boxcar_status coordinator_flush(struct boxcar_coordinator *c, const boxcar_flush_options *asked,
                                boxcar_flush **told, boxcar_error *err) {
    if (is_closed(c))
        return asked ? refuse_closed(err) : BOXCAR_OK;
    return flush_now(c, asked, PATIENT, told, err);
}

/* ---- queueing ---- */

static boxcar_status refuse_full(const struct boxcar_coordinator *c, const boxcar_error *why,
                                 boxcar_error *err) {
    return error_set(err, BOXCAR_E_UNAVAILABLE,
                     "the queue is full (%zu operations) and cannot be flushed, nothing was queued: %s",
                     c->queue_max, why->message);
}

/* Several threads may wait for the turn to flush the same operations: the first flushes them all. */
static void flush_if_full(struct boxcar_coordinator *c) {
    pthread_mutex_lock(&c->mutex);
    take_turn(c);
    bool full = schedule_is_full(&c->schedule, c->queued);
    pthread_mutex_unlock(&c->mutex);
    struct flush *flush = NULL;
    if (full)
        (void)run_flush(c, NULL, IMPATIENT, &flush, NULL);
    finish(c, flush, NULL);
}

static boxcar_status queue_for_later(struct boxcar_coordinator *c, const struct operations *operations,
                                     uint64_t *ticket, boxcar_error *err) {
    pthread_mutex_lock(&c->mutex);
    while (!has_room(c, operations)) {
        pthread_mutex_unlock(&c->mutex);
        boxcar_error why = BOXCAR_ERROR_INIT;
        if (flush_now(c, NULL, IMPATIENT, NULL, &why) != BOXCAR_OK)
            return refuse_full(c, &why, err);
        pthread_mutex_lock(&c->mutex);
    }
    boxcar_status status = add_all(c, operations, ticket, err);
    bool full = schedule_is_full(&c->schedule, c->queued);
    pthread_mutex_unlock(&c->mutex);
    if (status == BOXCAR_OK && full)
        flush_if_full(c);
    return status;
}

/* The result of the flush for the operations of one call: the error of the first refused one. If all were
 * refused, the ticket is 0. */
static boxcar_status answer_of(const struct flush *flush, size_t count, uint64_t *ticket, boxcar_error *err) {
    const boxcar_error *why = NULL;
    size_t refused = 0;
    for (size_t i = 0; flush->base.refused_count > 0 && i < count; i++) {
        const boxcar_flushed *result = boxcar_flush_find(&flush->base, *ticket + i);
        if (!result || result->outcome != BOXCAR_OUTCOME_REFUSED)
            continue;
        why = why ? why : result->error;
        refused++;
    }
    if (!why)
        return BOXCAR_OK;
    if (refused == count)
        *ticket = 0;
    if (err)
        *err = *why;
    return why->status;
}

/* Has the turn from before it queues until it has its answer, so that no other flush gets that answer. */
static boxcar_status queue_and_flush(struct boxcar_coordinator *c, const struct operations *operations,
                                     uint64_t *ticket, boxcar_error *err) {
    struct flush *flush = NULL;
    pthread_mutex_lock(&c->mutex);
    take_turn(c);
    if (!has_room(c, operations)) {
        pthread_mutex_unlock(&c->mutex);
        boxcar_error why = BOXCAR_ERROR_INIT;
        boxcar_status status = run_flush(c, NULL, PATIENT, &flush, &why);
        finish(c, flush, NULL);
        return status == BOXCAR_OK ? queue_and_flush(c, operations, ticket, err) : refuse_full(c, &why, err);
    }
    boxcar_status status = add_all(c, operations, ticket, err);
    pthread_mutex_unlock(&c->mutex);
    if (status == BOXCAR_OK)
        status = run_flush(c, NULL, PATIENT, &flush, err);
    if (status == BOXCAR_OK)
        status = answer_of(flush, operations->count, ticket, err);
    finish(c, flush, NULL);
    return status;
}

boxcar_status coordinator_queue(struct boxcar_coordinator *c, const struct operations *operations,
                                uint64_t *ticket, boxcar_error *err) {
    *ticket = 0;
    if (operations->count == 0)
        return BOXCAR_OK;
    if (operations->count > c->queue_max)
        return error_invalid(err, "count", "count is larger than the queue: give at most %zu (queue_max)",
                             c->queue_max);
    if (c->schedule.strategy == BOXCAR_STRATEGY_IMMEDIATE)
        return queue_and_flush(c, operations, ticket, err);
    return queue_for_later(c, operations, ticket, err);
}

bool coordinator_is_owner(const struct boxcar_coordinator *c, boxcar_owner owner) {
    return memcmp(c->owner.uuid.bytes, owner.uuid.bytes, sizeof(owner.uuid.bytes)) == 0;
}

size_t coordinator_queued(struct boxcar_coordinator *c) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&c->mutex);
    return c->queued;
}

/* ---- the thread ---- */

/* If a flush has the turn, its requests count as a sign of life of the owner, too. */
static void send_heartbeat(struct boxcar_coordinator *c) { /* mutex held */
    if (c->taken) {
        c->presence.next_ms = clock_ms() + BUSY_MS;
        return;
    }
    take_turn(c);
    pthread_mutex_unlock(&c->mutex);
    bool impatient = c->store->impatient;
    c->store->impatient = true;
    int64_t next_ms = presence_beat(&c->presence, c->store, c->owner, clock_ms());
    c->store->impatient = impatient;
    end_turn(c);
    pthread_mutex_lock(&c->mutex);
    c->presence.next_ms = next_ms;
}

/* Never waits for the turn: the thread that has it is flushing already. */
static void *flush_in_time(void *context) {
    struct boxcar_coordinator *c = context;
    pthread_mutex_lock(&c->mutex);
    while (!c->stopping) {
        int64_t next_ms = c->schedule.due_ms < c->presence.next_ms ? c->schedule.due_ms : c->presence.next_ms;
        if (clock_ms() < next_ms) {
            (void)cond_wait_until(&c->changed, &c->mutex, next_ms);
            continue;
        }
        if (clock_ms() >= c->presence.next_ms) {
            send_heartbeat(c);
            continue;
        }
        if (c->taken) {
            schedule_put_off(&c->schedule, clock_ms());
            continue;
        }
        take_turn(c);
        pthread_mutex_unlock(&c->mutex);
        struct flush *flush;
        if (run_flush(c, NULL, IMPATIENT, &flush, NULL) == BOXCAR_E_NO_MEMORY && !flush) {
            AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&c->mutex);
            schedule_put_off(&c->schedule, clock_ms());
        }
        finish(c, flush, NULL);
        pthread_mutex_lock(&c->mutex);
    }
    pthread_mutex_unlock(&c->mutex);
    return NULL;
}

static void stop_thread(struct boxcar_coordinator *c) {
    if (!c->has_thread)
        return;
    pthread_mutex_lock(&c->mutex);
    c->stopping = true;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->mutex);
    pthread_join(c->thread, NULL);
    c->has_thread = false;
}

/* ---- life ---- */

static void let_store_go(struct boxcar_coordinator *c) {
    stop_thread(c);
    presence_end(&c->presence, c->store, c->owner);
    if (c->owns_store)
        c->store->ops->close(c->store);
    c->store = NULL;
}

void coordinator_free(struct boxcar_coordinator *c) {
    if (!c->closed)
        let_store_go(c);
    while (c->head) {
        struct generation *next = c->head->next;
        generation_free(c->head);
        c->head = next;
    }
    generation_free(c->spare);
    pthread_cond_destroy(&c->changed);
    pthread_cond_destroy(&c->turn_ended);
    pthread_mutex_destroy(&c->mutex);
    free(c);
}

boxcar_status coordinator_start(const boxcar_coordinator_options *options, struct boxcar_store *store,
                                struct boxcar_coordinator **ret_coordinator, boxcar_error *err) {
    struct boxcar_coordinator *c = calloc(1, sizeof(*c));
    if (!c) {
        if (store)
            store->ops->close(store);
        return error_no_memory(err);
    }
    c->store = store ? store : options->lent;
    c->owns_store = store != NULL;
    c->owner = options->owner;
    c->schedule = schedule_of(options->strategy, options->size, options->interval_ms);
    c->queue_max = options->queue_max;
    c->on_flush = options->on_flush;
    c->on_flush_context = options->on_flush_context;
    c->next_ticket = 1;
    c->presence = PRESENCE_INIT;
    c->presence.stale_threshold_ms = options->stale_threshold_ms;
    pthread_mutex_init(&c->mutex, NULL);
    pthread_cond_init(&c->turn_ended, NULL);
    cond_init(&c->changed);
    c->has_thread = options->interval_ms > 0;
    if (c->has_thread && pthread_create(&c->thread, NULL, flush_in_time, c) != 0) {
        c->has_thread = false;
        coordinator_free(c);
        return error_set(err, BOXCAR_E_UNAVAILABLE, "the system gives no thread for the coordinator");
    }
    *ret_coordinator = c;
    return BOXCAR_OK;
}

/* false = something is queued. */
static bool close_queue(struct boxcar_coordinator *c) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&c->mutex);
    c->closed = c->queued == 0;
    return c->closed;
}

boxcar_status coordinator_close(struct boxcar_coordinator *c, boxcar_error *err) {
    if (c->has_thread && pthread_equal(pthread_self(), c->thread))
        return error_set(err, BOXCAR_E_CONFLICT,
                         "on_flush cannot close its coordinator: do it from another thread");
    if (is_closed(c))
        return BOXCAR_OK;
    while (!close_queue(c))
        TRY(flush_now(c, NULL, PATIENT, NULL, err));
    let_store_go(c);
    return BOXCAR_OK;
}
