/* Suspects. A message released by an expired lease may be the one that kills workers. The store hands it out
 * alone. The worker holds one suspect at a time, together with ordinary work, and claims no other suspect
 * meanwhile, so that a crash charges no other suspect. From its third crash on a suspect runs with nothing
 * else in flight (BX-003). */
#include "pump.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "worker/crew/log_message.h"

#define ALONE_FROM_CRASH 3
#define SUSPECT_AWAY_MS 1000
#define PATIENCE_LONGEST_MS (INT64_C(24) * 60 * 60 * 1000)
#define UNHANDLED_AWAY_MS 1000
#define SHORTAGE_EVERY_MS 10000

static void hold(struct pump *pump, struct job *job) {
    job->held_previous = NULL;
    job->held_next = pump->held;
    if (pump->held)
        pump->held->held_previous = job;
    pump->held = job;
    pump->held_count++;
}

void pump_forget(struct pump *pump, struct job *job) {
    if (job->held_previous)
        job->held_previous->held_next = job->held_next;
    else
        pump->held = job->held_next;
    if (job->held_next)
        job->held_next->held_previous = job->held_previous;
    pump->held_count--;
    if (pump->suspect == job) { /* there may be another, which was not asked for */
        pump->suspect = NULL;
        pump_look_soon(pump);
    }
    if (pump->waiting == job)
        pump->waiting = NULL;
    free(job->error);
    load_release(job->load);
}

void pump_finish(struct pump *pump, struct job *job, boxcar_verdict verdict, int64_t delay_ms) {
    job->collected = true;
    job->verdict = verdict;
    job->delay_ms = delay_ms;
    job_list_push(&pump->finished, job);
}

void pump_give_back_one(struct pump *pump, struct job *job, int64_t delay_ms) {
    job->given_back = true;
    pump_finish(pump, job, BOXCAR_VERDICT_DEFER, delay_ms);
}

/* Claims ask for the handlers' topics only, so this is rare; it must not go round in circles. */
static void admit_unhandled(struct pump *pump, struct job *job) {
    bool fail = pump_tuning(pump)->fail_unhandled;
    atomic_fetch_add(&pump->worker->count.unhandled, 1);
    log_message(pump_logger(pump), BOXCAR_LOG_WARN, "unhandled", job->message, BOXCAR_NO_STR,
                fail ? "no handler for this topic: failed" : "no handler for this topic: given back");
    if (fail)
        pump_finish(pump, job, BOXCAR_VERDICT_FAIL, BOXCAR_BACKOFF);
    else
        pump_give_back_one(pump, job, UNHANDLED_AWAY_MS);
}

static void admit_discarded(struct pump *pump, struct job *job) {
    log_message(pump_logger(pump), BOXCAR_LOG_DEBUG, "discard", job->message, BOXCAR_NO_STR, "discarded");
    pace_learn(&pump->pace, 0);
    pump_finish(pump, job, BOXCAR_VERDICT_ACK, BOXCAR_BACKOFF);
}

bool pump_runs_alone(const struct job *job) { return job->message->crash_count >= ALONE_FROM_CRASH; }

/* A suspect comes alone, and claims ask for none while one is here. */
static void admit_suspect(struct pump *pump, struct job *job, struct job_list *ready) {
    if (pump->waiting || pump->suspect) {
        pump_give_back_one(pump, job, SUSPECT_AWAY_MS);
    } else if (pump_runs_alone(job)) {
        pump->waiting = job;
        pump->waiting_since_ms = pump->now_ms;
    } else {
        pump->suspect = job;
        job_list_push(ready, job);
    }
}

void pump_admit_one(struct pump *pump, struct job *job, struct job_list *ready) {
    if (job->handler == pump->worker->wait_handler)
        pump_admit_wait(pump, job);
    else if (!job->handler)
        admit_unhandled(pump, job);
    else if (!job->handler->run)
        admit_discarded(pump, job);
    else if (job->message->crash_count > 0)
        admit_suspect(pump, job, ready);
    else
        job_list_push(ready, job);
}

static struct handler *find_handler(const struct pump *pump, const struct job *job) {
    if (pump_is_wait(pump, job))
        return pump->worker->wait_handler;
    return handler_table_find(pump->worker->handlers, job->message->box, job->message->topic);
}

void pump_admit(struct pump *pump, struct result *result, int64_t asked_at_ms) {
    size_t count = result->parts[BOXCAR_OUTBOX].claimed_count + result->parts[BOXCAR_INBOX].claimed_count;
    if (count == 0) {
        result_release(result);
        return;
    }
    struct load *load = load_new(result);
    if (!load) {
        store_log(pump_logger(pump), BOXCAR_LOG_ERROR, "claim", NULL, 0,
                  "out of memory: claimed messages are left until their lease ends");
        return;
    }
    atomic_fetch_add(&pump->worker->count.claimed, (int64_t)count);
    struct job_list ready = {0};
    size_t streamed = 0;
    for (size_t i = 0; i < load->count; i++) {
        struct job *job = &load->jobs[i];
        job->leased_at_ms = asked_at_ms;
        job->handler = find_handler(pump, job);
        hold(pump, job);
        if (str_is_empty(job->message->stream))
            pump_admit_one(pump, job, &ready);
        else
            streamed++;
    }
    if (streamed > 0)
        pump_admit_streams(pump, load, streamed, &ready);
    if (ready.count > 0)
        desk_put(pump->desk, &ready);
    load_release(load);
}

/* Every message meets the same shortage: one warning now and then is enough. */
static void log_shortage(struct pump *pump, const struct job *job) {
    bool is_due = pump->now_ms >= pump->next_shortage_ms;
    if (is_due)
        pump->next_shortage_ms = pump->now_ms + SHORTAGE_EVERY_MS;
    log_message(pump_logger(pump), is_due ? BOXCAR_LOG_WARN : BOXCAR_LOG_INFO, "shortage", job->message,
                (boxcar_str){job->error, job->error_len},
                "the system has too little for another program: the message is tried again soon");
}

/* An attempt that ended badly is an error of the handler's (OBX-105). */
static void log_verdict(struct pump *pump, const struct job *job) {
    static const struct {
        boxcar_log_level level;
        const char *text;
    } SAYINGS[] = {
        [BOXCAR_VERDICT_ACK] = {BOXCAR_LOG_DEBUG, "handled"},
        [BOXCAR_VERDICT_RETRY] = {BOXCAR_LOG_ERROR, "handler failed"},
        [BOXCAR_VERDICT_FAIL] = {BOXCAR_LOG_ERROR, "handler failed for good"},
        [BOXCAR_VERDICT_DEFER] = {BOXCAR_LOG_INFO, "handler deferred the message"},
    };
    boxcar_str error = {job->error, job->error_len};
    if (job->unstarted)
        log_message(pump_logger(pump), BOXCAR_LOG_DEBUG, "give_back", job->message, error,
                    "given back: the one before it in its stream was not done");
    else if (job->given_back)
        log_message(pump_logger(pump), BOXCAR_LOG_INFO, "give_back", job->message, error,
                    "stopped before it was done");
    else if (job->shortage)
        log_shortage(pump, job);
    else
        log_message(pump_logger(pump), SAYINGS[job->verdict].level, "verdict", job->message, error,
                    SAYINGS[job->verdict].text);
}

void pump_collect(struct pump *pump) {
    struct job_list arrived = {0};
    desk_collect(pump->desk, &arrived);
    for (struct job *job = arrived.first; job; job = job->next) {
        job->collected = true;
        if (!job->given_back) {
            pace_learn(&pump->pace, job->microseconds);
            handler_count_time(job->handler, job->microseconds);
        }
        log_verdict(pump, job);
    }
    job_list_append(&pump->finished, &arrived);
}

static struct job *take_waiting(struct pump *pump) {
    struct job *job = pump->waiting;
    pump->waiting = NULL;
    return job;
}

/* It runs when everything else is finished and settled. If that takes long, it goes back for a while, so
 * that the other threads have work and another worker may try; each time the patience doubles, so that
 * its turn comes in the end. */
void pump_release_suspect(struct pump *pump) {
    if (!pump->waiting)
        return;
    if (pump->held_count == 1 && pump_others_are_idle(pump)) {
        struct job_list ready = {0};
        pump->suspect = take_waiting(pump);
        pump->patience_ms = 0;
        job_list_push(&ready, pump->suspect);
        desk_put(pump->desk, &ready);
        return;
    }
    int64_t shortest = pump_tuning(pump)->lease_ms / 2;
    if (pump->patience_ms < shortest)
        pump->patience_ms = shortest;
    if (pump->now_ms - pump->waiting_since_ms < pump->patience_ms)
        return;
    pump->no_suspects_until_ms = pump->now_ms + pump->patience_ms;
    if (pump->patience_ms < PATIENCE_LONGEST_MS)
        pump->patience_ms *= 2;
    pump_give_back_one(pump, take_waiting(pump), SUSPECT_AWAY_MS);
}

void pump_give_back(struct pump *pump, bool all) {
    if (!all && (pump->view.oldest_queued_ms == INT64_MAX ||
                 pump->now_ms - pump->view.oldest_queued_ms < pump_tuning(pump)->lease_ms / 2))
        return;
    struct job_list jobs = {0};
    desk_take_back(pump->desk, all, &jobs);
    for (struct job *job; (job = job_list_pop(&jobs)) != NULL;)
        pump_give_back_one(pump, job, 0);
    if (all && pump->waiting)
        pump_give_back_one(pump, take_waiting(pump), 0);
}
