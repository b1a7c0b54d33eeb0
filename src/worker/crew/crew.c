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
    arena_release(&crew->arena);
    free(crew);
}

/* Copies, since a thread that was given up may outlive the worker. */
static bool copy_store(struct crew *crew, const boxcar_store_options *store, const char *store_id) {
    boxcar_str id;
    crew->store = *store;
    if (!arena_copy_str(&crew->arena, store->url, &crew->store.url) ||
        !arena_copy_str(&crew->arena, store->schema, &crew->store.schema) ||
        !arena_copy_str(&crew->arena, boxcar_str_of(store_id), &id))
        return false;
    crew->logger = (struct boxcar_store){.log = store->log,
                                         .log_context = store->log_context,
                                         .log_level = store->log_level,
                                         .id = (char *)id.data};
    return true;
}

boxcar_status crew_open(const boxcar_store_options *store, const char *store_id,
                        struct handler_table *handlers, int wake_fd, struct crew **ret_crew,
                        boxcar_error *err) {
    struct crew *crew = calloc(1, sizeof(*crew));
    if (!crew)
        return error_no_memory(err);
    pthread_mutex_init(&crew->mutex, NULL);
    pthread_cond_init(&crew->work, NULL);
    atomic_init(&crew->references, 1);
    handler_table_retain(handlers);
    crew->handlers = handlers;
    crew->wake_fd = wake_fd;
    crew->abandon_ms = CREW_ABANDON_MS;
    if (!copy_store(crew, store, store_id)) {
        crew_release(crew);
        return error_no_memory(err);
    }
    *ret_crew = crew;
    return BOXCAR_OK;
}

boxcar_status crew_set_subscription(struct crew *crew, boxcar_str name, boxcar_error *err) {
    return arena_copy_str(&crew->arena, name, &crew->subscription) ? BOXCAR_OK : error_no_memory(err);
}

static void wake_loop(struct crew *crew) {
    uint64_t one = 1;
    if (!crew->loop_waits)
        return;
    crew->loop_waits = false;
    (void)!write(crew->wake_fd, &one, sizeof(one));
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
    log_message(&slot->crew->logger, BOXCAR_LOG_INFO, "handle", slot->delivery.message, BOXCAR_NO_STR,
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
    job_list_push(&crew->finished, job);
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

/* Under the lock. */
static void begin_job(struct slot *slot, struct job *job) {
    struct crew *crew = slot->crew;
    job->place = PLACE_RUNNING;
    slot->job = job;
    slot->started_us = clock_us();
    slot->cancelled_at_ms = INT64_MAX;
    crew->running++;
    atomic_fetch_add(&job->handler->running, 1);
    delivery_start(&slot->delivery, job->message,
                   crew->timeout_ms > 0 ? slot->started_us / 1000 + crew->timeout_ms : INT64_MAX);
    slot->delivery.stages = &job->stages;
    slot->delivery.news = &crew->has_stages;
    load_retain(job->load); /* the handler's own */
}

/* Under the lock. What the thread does from here on concerns the job no more. */
static void end_job(struct slot *slot) {
    struct job *job = slot->job;
    slot->job = NULL;
    slot->crew->running--;
    atomic_fetch_sub(&job->handler->running, 1);
    job->place = PLACE_FINISHED;
    job_list_push(&slot->crew->finished, job);
    follow(slot->crew, job);
    wake_loop(slot->crew);
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
        begin_job(slot, job);
        pthread_mutex_unlock(&crew->mutex);
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
    if (!delivery_init(&slot->delivery, crew->logger.id, &crew->store)) {
        int error = errno;
        free(slot);
        return error;
    }
    slot->delivery.subscription = crew->subscription;
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

void crew_put(struct crew *crew, struct job_list *jobs) {
    int64_t now = clock_ms();
    size_t count = jobs->count;
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&crew->mutex);
    for (struct job *job = jobs->first; job; job = job->next) {
        job->queued_at_ms = now;
        job->place = PLACE_QUEUED;
        for (struct job *behind = job->behind; behind; behind = behind->behind) {
            behind->place = PLACE_BEHIND;
            crew->behind++;
        }
    }
    job_list_append(&crew->queue, jobs);
    if (count == 1)
        pthread_cond_signal(&crew->work);
    else if (count > 1)
        pthread_cond_broadcast(&crew->work);
}

void crew_collect(struct crew *crew, struct job_list *ret_finished) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&crew->mutex);
    job_list_append(ret_finished, &crew->finished);
}

/* Under the lock. False = a thread has it, or had it. */
static bool take_back(struct crew *crew, struct job *job) {
    if (job->place == PLACE_QUEUED)
        job_list_remove(&crew->queue, job);
    else if (job->place == PLACE_BEHIND)
        crew->behind--;
    else
        return false;
    job->place = PLACE_NONE;
    return true;
}

/* Under the lock. */
static void take_back_behind(struct crew *crew, struct job *job, struct job_list *ret_jobs) {
    for (struct job *behind = job->behind; behind; behind = behind->behind)
        if (take_back(crew, behind))
            job_list_push(ret_jobs, behind);
}

void crew_take_back(struct crew *crew, bool all, struct job_list *ret_jobs) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&crew->mutex);
    for (struct job *job; (job = job_list_pop(&crew->queue)) != NULL;) {
        job->place = PLACE_NONE;
        job_list_push(ret_jobs, job);
        take_back_behind(crew, job, ret_jobs);
    }
    for (struct slot *slot = crew->slots; all && slot; slot = slot->next)
        if (slot->job)
            take_back_behind(crew, slot->job, ret_jobs);
}

bool crew_take_back_one(struct crew *crew, struct job *job) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&crew->mutex);
    return take_back(crew, job);
}

void crew_take_back_behind(struct crew *crew, struct job *job, struct job_list *ret_jobs) {
    if (!job->behind)
        return;
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&crew->mutex);
    take_back_behind(crew, job, ret_jobs);
}

/* When the thread of a cancelled handler is given up. */
static int64_t give_up_at(const struct slot *slot) {
    int64_t cancelled = slot->cancelled_at_ms;
    if (slot->delivery.deadline_ms < cancelled)
        cancelled = slot->delivery.deadline_ms;
    return cancelled == INT64_MAX ? INT64_MAX : cancelled + slot->crew->abandon_ms;
}

void crew_look(struct crew *crew, struct crew_view *ret_view) {
    int64_t now_us = clock_us(), elapsed_us = 0;
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&crew->mutex);
    *ret_view = (struct crew_view){.queued = crew->queue.count,
                                   .running = crew->running,
                                   .behind = crew->behind,
                                   .abandoned = crew->abandoned,
                                   .next_check_ms = INT64_MAX,
                                   .oldest_queued_ms =
                                       crew->queue.first ? crew->queue.first->queued_at_ms : INT64_MAX};
    if (crew->running == 0)
        return;
    for (struct slot *slot = crew->slots; slot; slot = slot->next) {
        if (!slot->job)
            continue;
        elapsed_us += now_us - slot->started_us;
        if (give_up_at(slot) < ret_view->next_check_ms)
            ret_view->next_check_ms = give_up_at(slot);
    }
    ret_view->elapsed_ms = elapsed_us / 1000 / (int64_t)crew->running;
}

void crew_cancel(struct crew *crew, const struct job *job, enum cancel_reason reason) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&crew->mutex);
    for (struct slot *slot = crew->slots; slot; slot = slot->next) {
        if (!slot->job || (job && slot->job != job))
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

size_t crew_supervise(struct crew *crew, bool all) {
    int64_t now = clock_ms();
    size_t count = 0;
    join_ended(crew);
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&crew->mutex);
    for (struct slot *slot = crew->slots, *next; slot; slot = next) {
        next = slot->next;
        if (!slot->job || (!all && now < give_up_at(slot)))
            continue;
        abandon(crew, slot);
        count++;
    }
    if (!all)
        (void)fill_up(crew); /* if no thread can be had now, a later call tries again */
    return count;
}

bool crew_begin_wait(struct crew *crew) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&crew->mutex);
    crew->loop_waits = crew->finished.count == 0;
    return crew->loop_waits;
}

void crew_end_wait(struct crew *crew) {
    pthread_mutex_lock(&crew->mutex);
    crew->loop_waits = false;
    pthread_mutex_unlock(&crew->mutex);
    uint64_t count;
    (void)!read(crew->wake_fd, &count, sizeof(count));
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
