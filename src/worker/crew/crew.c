#include "crew.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/thread.h"
#include "log_message.h"

static void crew_release(struct crew *crew) {
    if (atomic_fetch_sub(&crew->references, 1) != 1)
        return;
    pthread_mutex_destroy(&crew->mutex);
    pthread_cond_destroy(&crew->work);
    handler_table_release(crew->handlers);
    free(crew);
}

static struct desk *desk_retain(struct desk *desk) {
    atomic_fetch_add(&desk->references, 1);
    return desk;
}

/* NULL is fine. */
static void desk_release(struct desk *desk) {
    if (!desk || atomic_fetch_sub(&desk->references, 1) != 1)
        return;
    struct crew *crew = desk->crew;
    arena_release(&desk->arena);
    free(desk);
    crew_release(crew);
}

boxcar_status crew_open(struct handler_table *handlers, struct crew **ret_crew, boxcar_error *err) {
    struct crew *crew = calloc(1, sizeof(*crew));
    if (!crew)
        return error_no_memory(err);
    pthread_mutex_init(&crew->mutex, NULL);
    pthread_cond_init(&crew->work, NULL);
    atomic_init(&crew->references, 1);
    handler_table_retain(handlers);
    crew->handlers = handlers;
    crew->abandon_ms = CREW_ABANDON_MS;
    *ret_crew = crew;
    return BOXCAR_OK;
}

/* Copies, since a thread that was given up may outlive the worker. */
static bool copy_store(struct desk *desk, const boxcar_store_options *store, const char *store_id) {
    boxcar_str id;
    desk->store = *store;
    if (!arena_copy_str(&desk->arena, store->url, &desk->store.url) ||
        !arena_copy_str(&desk->arena, store->schema, &desk->store.schema) ||
        !arena_copy_str(&desk->arena, boxcar_str_of(store_id), &id))
        return false;
    desk->logger = (struct boxcar_store){.log = store->log,
                                         .log_context = store->log_context,
                                         .log_level = store->log_level,
                                         .id = (char *)id.data};
    return true;
}

boxcar_status desk_open(struct crew *crew, const boxcar_store_options *store, const char *store_id,
                        int wake_fd, struct desk **ret_desk, boxcar_error *err) {
    struct desk *desk = calloc(1, sizeof(*desk));
    if (!desk)
        return error_no_memory(err);
    atomic_init(&desk->references, 1);
    atomic_fetch_add(&crew->references, 1);
    desk->crew = crew;
    desk->wake_fd = wake_fd;
    if (!copy_store(desk, store, store_id)) {
        desk_release(desk);
        return error_no_memory(err);
    }
    *ret_desk = desk;
    return BOXCAR_OK;
}

boxcar_status desk_set_subscription(struct desk *desk, boxcar_str name, boxcar_error *err) {
    return arena_copy_str(&desk->arena, name, &desk->subscription) ? BOXCAR_OK : error_no_memory(err);
}

static void wake_loop(struct desk *desk) {
    uint64_t one = 1;
    if (!desk->loop_waits)
        return;
    desk->loop_waits = false;
    (void)!write(desk->wake_fd, &one, sizeof(one));
}

/* What came of a call. */
struct ending {
    boxcar_verdict verdict;
    bool settled; /* acked and committed by the handler's transaction */
    bool late;    /* it was to be, but the lease was lost */
};

/* Under the lock. */
static void take_verdict(struct slot *slot, struct job *job, struct ending ending) {
    struct boxcar_delivery *delivery = &slot->delivery;
    enum cancel_reason reason = delivery_cancel_reason(delivery);
    job->verdict = ending.verdict;
    job->settled = ending.settled;
    job->late = ending.late;
    job->microseconds = clock_us() - slot->started_us;
    job->delay_ms = delivery_delay_ms(delivery, ending.verdict);
    job->shortage = delivery->is_shortage;
    if (reason == CANCEL_TIMEOUT) {
        atomic_fetch_add(&job->handler->timed_out, 1);
        /* A handler that stopped in time, but says nothing of why, stopped for this. */
        if (ending.verdict != BOXCAR_VERDICT_ACK && !delivery->error)
            boxcar_delivery_set_error(delivery, BOXCAR_STR("timed out"));
    }
    job->error = delivery_take_error(delivery, &job->error_len);
    /* Told to stop for reasons that are not its own: no attempt is spent. */
    if (ending.verdict == BOXCAR_VERDICT_RETRY && reason == CANCEL_STOP) {
        job->verdict = BOXCAR_VERDICT_DEFER;
        job->given_back = true;
        job->delay_ms = 0;
    }
}

/* The handler's own transaction ends with its verdict. When it cannot be committed, the message is
 * tried again; if the commit did happen after all, that retry meets no lease and changes nothing. */
static void end_transaction(struct slot *slot, struct ending *ending) {
    if (ending->verdict != BOXCAR_VERDICT_ACK) {
        delivery_roll_back(&slot->delivery);
        return;
    }
    boxcar_error err = BOXCAR_ERROR_INIT;
    if (delivery_ack(&slot->delivery, &ending->settled, &err) == BOXCAR_OK) {
        ending->late = !ending->settled;
        return;
    }
    /* An outage is not the message's fault. */
    boxcar_delivery_set_error(&slot->delivery, boxcar_str_of(err.message));
    ending->verdict = err.retryable ? BOXCAR_VERDICT_DEFER : BOXCAR_VERDICT_RETRY;
}

static bool is_abandoned(struct slot *slot) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&slot->crew->mutex);
    return slot->abandoned;
}

/* Outside the lock: the handler itself. */
static struct ending run_handler(struct slot *slot, const struct handler *handler) {
    log_message(&slot->desk->logger, BOXCAR_LOG_INFO, "handle", slot->delivery.message, BOXCAR_NO_STR,
                "handling");
    boxcar_verdict verdict = handler->run(handler->context, &slot->delivery);
    struct ending ending = {.verdict = delivery_check_verdict(&slot->delivery, verdict)};
    if (!slot->delivery.in_transaction)
        return ending;
    if (is_abandoned(slot))
        delivery_roll_back(&slot->delivery);
    else
        end_transaction(slot, &ending);
    return ending;
}

/* ---- streams: one after the other ---- */

/* Under the lock. */
static void let_follow(struct crew *crew, struct job *job) {
    job->place = PLACE_QUEUED;
    job->queued_at_ms = clock_ms();
    crew->behind--;
    job->desk->behind--;
    job->desk->queued++;
    job_list_push(&crew->queue, job);
    pthread_cond_signal(&crew->work);
}

/* Under the lock. It never ran, and spends no attempt. */
static void give_back_unstarted(struct crew *crew, struct job *job) {
    job->place = PLACE_FINISHED;
    job->verdict = BOXCAR_VERDICT_DEFER;
    job->given_back = true;
    job->unstarted = true;
    job->delay_ms = 0;
    crew->behind--;
    job->desk->behind--;
    job_list_push(&job->desk->finished, job);
}

/* Under the lock: the job has its verdict. An ack may still be on its way to the store; anything else
 * stops the stream (BX-062). */
static void follow(struct crew *crew, struct job *job) {
    struct job *next = job->behind;
    if (!next || next->place != PLACE_BEHIND)
        return;
    if (job->verdict == BOXCAR_VERDICT_ACK && !job->late) {
        let_follow(crew, next);
        return;
    }
    for (; next && next->place == PLACE_BEHIND; next = next->behind)
        give_back_unstarted(crew, next);
}

/* ---- running ---- */

/* What a thread has to put away before it begins a job of another desk. */
struct leftover {
    struct boxcar_store *store;
    struct desk *desk;
};

/* Under the lock. */
static struct leftover move_to_desk(struct slot *slot, struct desk *desk) {
    struct leftover left = {slot->delivery.store, slot->desk};
    slot->desk = desk_retain(desk);
    slot->delivery.store = NULL;
    slot->delivery.store_id = desk->logger.id;
    slot->delivery.store_options = &desk->store;
    slot->delivery.news = &desk->has_stages;
    slot->delivery.subscription = desk->subscription;
    return left;
}

/* Outside the lock. */
static void put_away(struct leftover left) {
    if (left.store)
        left.store->ops->close(left.store);
    desk_release(left.desk);
}

/* Under the lock. */
static struct leftover begin_job(struct slot *slot, struct job *job) {
    struct crew *crew = slot->crew;
    struct leftover left = {NULL, NULL};
    job->place = PLACE_RUNNING;
    job->desk->queued--;
    job->desk->running++;
    slot->job = job;
    slot->started_us = clock_us();
    slot->cancelled_at_ms = INT64_MAX;
    crew->running++;
    atomic_fetch_add(&job->handler->running, 1);
    if (slot->desk != job->desk)
        left = move_to_desk(slot, job->desk);
    delivery_start(&slot->delivery, job->message,
                   crew->timeout_ms > 0 ? slot->started_us / 1000 + crew->timeout_ms : INT64_MAX);
    slot->delivery.stages = &job->stages;
    load_retain(job->load); /* the handler's own */
    return left;
}

/* Under the lock. What the thread does from here on concerns the job no more. */
static void end_job(struct slot *slot) {
    struct job *job = slot->job;
    struct desk *desk = job->desk, *watcher = slot->crew->watcher;
    slot->job = NULL;
    slot->crew->running--;
    desk->running--;
    atomic_fetch_sub(&job->handler->running, 1);
    job->place = PLACE_FINISHED;
    job_list_push(&desk->finished, job);
    follow(slot->crew, job);
    wake_loop(desk);
    if (watcher && watcher != desk) {
        watcher->noticed = true;
        wake_loop(watcher);
    }
}

static void unlink_slot(struct crew *crew, struct slot *slot) {
    struct slot **at = &crew->slots;
    while (*at != slot)
        at = &(*at)->next;
    *at = slot->next;
    crew->slot_count--;
}

/* One message after the other until there are too many threads; then this one counts no more. */
static void work(struct slot *slot) {
    struct crew *crew = slot->crew;
    pthread_mutex_lock(&crew->mutex);
    while (!slot->abandoned && crew->slot_count <= crew->wanted) {
        struct job *job = job_list_pop(&crew->queue);
        if (!job) {
            pthread_cond_wait(&crew->work, &crew->mutex);
            continue;
        }
        struct load *load = job->load;
        struct leftover left = begin_job(slot, job);
        pthread_mutex_unlock(&crew->mutex);
        put_away(left);
        struct ending ending = run_handler(slot, job->handler);
        pthread_mutex_lock(&crew->mutex);
        if (!slot->abandoned) {
            take_verdict(slot, job, ending);
            end_job(slot);
        }
        pthread_mutex_unlock(&crew->mutex);
        load_release(load);
        pthread_mutex_lock(&crew->mutex);
    }
    if (!slot->abandoned) {
        unlink_slot(crew, slot);
        crew->leaving++;
    }
    pthread_mutex_unlock(&crew->mutex);
}

static void *slot_main(void *argument) {
    struct slot *slot = argument;
    struct crew *crew = slot->crew;
    work(slot);
    delivery_release(&slot->delivery);
    desk_release(slot->desk);
    pthread_mutex_lock(&crew->mutex);
    bool abandoned = slot->abandoned;
    if (abandoned) {
        crew->abandoned--;
    } else {
        crew->leaving--;
        slot->next = crew->ended;
        crew->ended = slot;
    }
    pthread_cond_broadcast(&crew->work); /* wakes the thread that waits for the last one to end */
    pthread_mutex_unlock(&crew->mutex);
    if (abandoned)
        free(slot);
    crew_release(crew);
    return NULL;
}

/* Threads that are through are joined, so that nothing of them is left when the worker is gone. */
static void join_ended(struct crew *crew) {
    pthread_mutex_lock(&crew->mutex);
    struct slot *ended = crew->ended;
    crew->ended = NULL;
    pthread_mutex_unlock(&crew->mutex);
    while (ended) {
        struct slot *slot = ended;
        ended = slot->next;
        pthread_join(slot->thread, NULL);
        free(slot);
    }
}

/* Under the lock. */
static int slot_start(struct crew *crew) {
    struct slot *slot = calloc(1, sizeof(*slot));
    if (!slot)
        return ENOMEM;
    slot->crew = crew;
    if (!delivery_init(&slot->delivery, NULL, NULL)) {
        int error = errno;
        free(slot);
        return error;
    }
    atomic_fetch_add(&crew->references, 1);
    int error = thread_start(&slot->thread, slot_main, slot);
    if (error != 0) {
        atomic_fetch_sub(&crew->references, 1);
        delivery_release(&slot->delivery);
        free(slot);
        return error;
    }
    slot->next = crew->slots;
    crew->slots = slot;
    crew->slot_count++;
    return 0;
}

/* Under the lock. */
static int fill_up(struct crew *crew) {
    while (crew->slot_count < crew->wanted)
        TRY(slot_start(crew));
    return 0;
}

boxcar_status crew_resize(struct crew *crew, size_t concurrency, boxcar_error *err) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&crew->mutex);
    crew->wanted = concurrency;
    int error = fill_up(crew);
    pthread_cond_broadcast(&crew->work);
    if (error == 0)
        return BOXCAR_OK;
    return error_set(
        err, BOXCAR_E_UNAVAILABLE,
        "the system lets only %zu of %zu threads start (%s): raise its limits, or lower the concurrency",
        crew->slot_count, concurrency, strerror(error));
}

size_t crew_threads(struct crew *crew) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&crew->mutex);
    return crew->slot_count;
}

void crew_set_timeout(struct crew *crew, int64_t timeout_ms) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&crew->mutex);
    crew->timeout_ms = timeout_ms;
}

/* Under the lock. */
static void enter(struct desk *desk, struct job *job, int64_t now) {
    job->desk = desk;
    job->queued_at_ms = now;
    job->place = PLACE_QUEUED;
    desk->queued++;
    for (struct job *behind = job->behind; behind; behind = behind->behind) {
        behind->desk = desk;
        behind->place = PLACE_BEHIND;
        desk->behind++;
        desk->crew->behind++;
    }
}

void desk_put(struct desk *desk, struct job_list *jobs) {
    struct crew *crew = desk->crew;
    int64_t now = clock_ms();
    size_t count = jobs->count;
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&crew->mutex);
    for (struct job *job = jobs->first; job; job = job->next)
        enter(desk, job, now);
    job_list_append(&crew->queue, jobs);
    if (count == 1)
        pthread_cond_signal(&crew->work);
    else if (count > 1)
        pthread_cond_broadcast(&crew->work);
}

void desk_collect(struct desk *desk, struct job_list *ret_finished) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&desk->crew->mutex);
    job_list_append(ret_finished, &desk->finished);
}

/* Under the lock. False = a thread has it, or had it. */
static bool take_back(struct crew *crew, struct job *job) {
    if (job->place == PLACE_QUEUED) {
        job_list_remove(&crew->queue, job);
        job->desk->queued--;
    } else if (job->place == PLACE_BEHIND) {
        crew->behind--;
        job->desk->behind--;
    } else {
        return false;
    }
    job->place = PLACE_NONE;
    return true;
}

/* Under the lock. */
static void take_back_behind(struct crew *crew, struct job *job, struct job_list *ret_jobs) {
    for (struct job *behind = job->behind; behind; behind = behind->behind)
        if (take_back(crew, behind))
            job_list_push(ret_jobs, behind);
}

void desk_take_back(struct desk *desk, bool all, struct job_list *ret_jobs) {
    struct crew *crew = desk->crew;
    struct job_list others = {0};
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&crew->mutex);
    for (struct job *job; (job = job_list_pop(&crew->queue)) != NULL;) {
        if (job->desk != desk) {
            job_list_push(&others, job);
            continue;
        }
        job->place = PLACE_NONE;
        desk->queued--;
        job_list_push(ret_jobs, job);
        take_back_behind(crew, job, ret_jobs);
    }
    crew->queue = others;
    for (struct slot *slot = crew->slots; all && slot; slot = slot->next)
        if (slot->job && slot->job->desk == desk)
            take_back_behind(crew, slot->job, ret_jobs);
}

bool desk_take_back_one(struct desk *desk, struct job *job) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&desk->crew->mutex);
    return take_back(desk->crew, job);
}

void desk_take_back_behind(struct desk *desk, struct job *job, struct job_list *ret_jobs) {
    if (!job->behind)
        return;
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&desk->crew->mutex);
    take_back_behind(desk->crew, job, ret_jobs);
}

/* When the thread of a cancelled handler is given up. */
static int64_t give_up_at(const struct slot *slot) {
    int64_t cancelled = slot->cancelled_at_ms;
    if (slot->delivery.deadline_ms < cancelled)
        cancelled = slot->delivery.deadline_ms;
    return cancelled == INT64_MAX ? INT64_MAX : cancelled + slot->crew->abandon_ms;
}

/* Under the lock. */
static int64_t oldest_queued_ms(const struct desk *desk) {
    const struct job *job = desk->queued > 0 ? desk->crew->queue.first : NULL;
    while (job && job->desk != desk)
        job = job->next;
    return job ? job->queued_at_ms : INT64_MAX;
}

void desk_look(struct desk *desk, struct crew_view *ret_view) {
    struct crew *crew = desk->crew;
    int64_t now_us = clock_us(), elapsed_us = 0;
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&crew->mutex);
    *ret_view = (struct crew_view){.all = {crew->queue.count, crew->running, crew->behind},
                                   .queued = desk->queued,
                                   .running = desk->running,
                                   .behind = desk->behind,
                                   .abandoned = crew->abandoned,
                                   .next_check_ms = INT64_MAX,
                                   .oldest_queued_ms = oldest_queued_ms(desk)};
    if (crew->running == 0)
        return;
    for (struct slot *slot = crew->slots; slot; slot = slot->next) {
        if (!slot->job)
            continue;
        elapsed_us += now_us - slot->started_us;
        if (slot->job->desk == desk && give_up_at(slot) < ret_view->next_check_ms)
            ret_view->next_check_ms = give_up_at(slot);
    }
    ret_view->elapsed_ms = elapsed_us / 1000 / (int64_t)crew->running;
}

void desk_cancel(struct desk *desk, const struct job *job, enum cancel_reason reason) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&desk->crew->mutex);
    for (struct slot *slot = desk->crew->slots; slot; slot = slot->next) {
        if (!slot->job || slot->job->desk != desk || (job && slot->job != job))
            continue;
        if (slot->cancelled_at_ms == INT64_MAX)
            slot->cancelled_at_ms = clock_ms();
        delivery_cancel(&slot->delivery, reason);
    }
}

/* Under the lock. The thread keeps its delivery and its reference to the load; the job goes on
 * without it. */
static void abandon(struct crew *crew, struct slot *slot) {
    static const char WHY[] = "the handler did not stop when it was told to";
    struct job *job = slot->job;
    bool stopping = delivery_cancel_reason(&slot->delivery) == CANCEL_STOP;
    if (delivery_cancel_reason(&slot->delivery) == CANCEL_TIMEOUT)
        atomic_fetch_add(&job->handler->timed_out, 1);
    job->verdict = stopping ? BOXCAR_VERDICT_DEFER : BOXCAR_VERDICT_RETRY;
    job->given_back = stopping;
    job->delay_ms = stopping ? 0 : BOXCAR_BACKOFF;
    job->error = stopping ? NULL : strdup(WHY);
    job->error_len = job->error ? sizeof(WHY) - 1 : 0;
    job->microseconds = clock_us() - slot->started_us;
    end_job(slot);
    slot->abandoned = true;
    pthread_detach(slot->thread); /* nobody will wait for it */
    unlink_slot(crew, slot);
    crew->abandoned++;
}

size_t desk_supervise(struct desk *desk, bool all) {
    struct crew *crew = desk->crew;
    int64_t now = clock_ms();
    size_t count = 0;
    join_ended(crew);
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&crew->mutex);
    for (struct slot *slot = crew->slots, *next; slot; slot = next) {
        next = slot->next;
        if (!slot->job || slot->job->desk != desk || (!all && now < give_up_at(slot)))
            continue;
        abandon(crew, slot);
        count++;
    }
    if (!all)
        (void)fill_up(crew); /* if no thread can be had now, a later call tries again */
    return count;
}

bool desk_begin_wait(struct desk *desk) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&desk->crew->mutex);
    desk->loop_waits = desk->finished.count == 0 && !desk->noticed;
    desk->noticed = false;
    return desk->loop_waits;
}

void desk_end_wait(struct desk *desk) {
    pthread_mutex_lock(&desk->crew->mutex);
    desk->loop_waits = false;
    pthread_mutex_unlock(&desk->crew->mutex);
    uint64_t count;
    (void)!read(desk->wake_fd, &count, sizeof(count));
}

void desk_watch(struct desk *desk, bool watch) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&desk->crew->mutex);
    if (watch && desk->crew->watcher != desk) {
        desk->crew->watcher = desk;
        desk->noticed = true; /* what ended before the watch began */
    }
    if (!watch && desk->crew->watcher == desk)
        desk->crew->watcher = NULL;
}

/* Under the lock. The connection that an idle thread keeps to the store; NULL = no more of them. */
static struct boxcar_store *take_kept_store(struct desk *desk) {
    for (struct slot *slot = desk->crew->slots; slot; slot = slot->next) {
        struct boxcar_store *store = slot->delivery.store;
        if (slot->job || slot->desk != desk || !store)
            continue;
        slot->delivery.store = NULL;
        return store;
    }
    return NULL;
}

void desk_close(struct desk *desk) {
    if (!desk)
        return;
    desk_watch(desk, false);
    pthread_mutex_lock(&desk->crew->mutex);
    for (struct boxcar_store *store; (store = take_kept_store(desk)) != NULL;) {
        pthread_mutex_unlock(&desk->crew->mutex);
        store->ops->close(store);
        pthread_mutex_lock(&desk->crew->mutex);
    }
    pthread_mutex_unlock(&desk->crew->mutex);
    desk_release(desk);
}

void crew_close(struct crew *crew) {
    if (!crew)
        return;
    pthread_mutex_lock(&crew->mutex);
    crew->wanted = 0;
    pthread_cond_broadcast(&crew->work);
    while (crew->slot_count + crew->leaving > 0)
        pthread_cond_wait(&crew->work, &crew->mutex);
    pthread_mutex_unlock(&crew->mutex);
    join_ended(crew);
    crew_release(crew);
}
