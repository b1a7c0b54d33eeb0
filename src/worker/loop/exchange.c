/* The round trip: verdicts go out, leases are renewed, new work comes in.
 *
 * The worker keeps every verdict until the store has answered. If the store cannot be reached, it sends the
 * verdicts again. If the answer was lost, messages that the first try settled count as settled
 * (request.base.sent_before). refusal.c handles verdicts that the store refuses. */
#include "pump.h"

#include <stdlib.h>

#include "base/clock.h"
#include "core/topic.h"
#include "request/request.h"
#include "worker/crew/log_message.h"

#define REMIND_MS 60000
#define CALL_MS_MIN 1000
#define CALL_MS_MAX 5000
#define SLOW_MS 60000 /* so long a server counts as slow after it was too slow */

static const enum outcome OUTCOMES_OF[BOXCAR_SETTLE_KINDS] = {
    [BOXCAR_ACK] = OUTCOME_ACKED,
    [BOXCAR_ABANDON] = OUTCOME_RETRIED,
    [BOXCAR_DEFER] = OUTCOME_DEFERRED,
    [BOXCAR_FAIL] = OUTCOME_FAILED,
};

/* In [0, 1). */
static double chance(struct pump *pump) { return rand_r(&pump->random) / (RAND_MAX + 1.0); }

/* ---- what goes out ---- */

/* A policy may be about some topics only, and leave the others to the store. */
static bool is_left_to_store(const boxcar_backoff_policy *policy, boxcar_str topic) {
    if (!policy)
        return true;
    return !policy->decide && policy->curve.base_ms < 0 &&
           (policy->topic_count == 0 || topic_best_match(&policy->topics->topic, policy->topic_count,
                                                         sizeof(*policy->topics), topic) < 0);
}

static int64_t backoff_ms(struct pump *pump, const struct job *job) {
    const boxcar_backoff_policy *policy = pump_tuning(pump)->policy;
    if (is_left_to_store(policy, job->message->topic))
        return BOXCAR_BACKOFF;
    int64_t delay = boxcar_backoff_delay_ms(policy, job->message, chance(pump));
    return delay > BOXCAR_DELAY_MS_MAX ? BOXCAR_DELAY_MS_MAX : delay;
}

void pump_count_lost(struct pump *pump, struct job *job) {
    atomic_fetch_add(&pump->worker->count.leases_lost, 1);
    if (job->handler)
        atomic_fetch_add(&job->handler->outcomes[OUTCOME_LOST], 1);
    log_message(pump_logger(pump), BOXCAR_LOG_WARN, "lease_lost", job->message, BOXCAR_NO_STR,
                "the lease ended before this was settled: the verdict does not count");
}

/* A job that ends without a request to the store: its handler's transaction settled it, or its lease is
 * lost. */
static bool ends_here(struct pump *pump, struct job *job) {
    if (!job->settled && !job->lost && !job->late)
        return false;
    if (job->settled)
        atomic_fetch_add(&job->handler->outcomes[OUTCOME_ACKED], 1);
    else
        pump_count_lost(pump, job);
    return true;
}

/* One list of failures has one reason. */
static boxcar_reason reason_of(const struct job *job) {
    return job->handler ? BOXCAR_REASON_NONE : BOXCAR_REASON_NO_HANDLER;
}

static struct outbound *outbound_of(struct pump *pump, const struct job *job) {
    return &pump->boxes[job->message->box].out;
}

static bool has_nothing_to_send(const struct pump *pump) {
    return outbound_is_empty(&pump->boxes[BOXCAR_OUTBOX].out) &&
           outbound_is_empty(&pump->boxes[BOXCAR_INBOX].out);
}

static bool fits(struct pump *pump, const struct job *job, boxcar_settle_kind kind) {
    const struct gather_list *fails = &outbound_of(pump, job)->lists[BOXCAR_FAIL];
    return kind != BOXCAR_FAIL || fails->count == 0 || reason_of(outbound_job(fails, 0)) == reason_of(job);
}

static bool load_verdict(struct pump *pump, struct job *job) {
    boxcar_settle_kind kind = job->wait ? BOXCAR_RESOLVE : (boxcar_settle_kind)job->verdict;
    if (job->verdict == BOXCAR_VERDICT_RETRY && job->delay_ms == BOXCAR_BACKOFF)
        job->delay_ms = backoff_ms(pump, job);
    job->sent = fits(pump, job, kind) && outbound_add(outbound_of(pump, job), kind, job);
    return job->sent;
}

/* Moves what is finished into the outbound lists; what does not fit stays for the next round. */
static void load_verdicts(struct pump *pump) {
    size_t count;
    struct job_list *from = pump_choose_verdicts(pump, &count);
    struct job_list rest = {0};
    while (count > 0 && from->count > 0) {
        struct job *job = job_list_pop(from);
        if (ends_here(pump, job)) {
            pump_forget(pump, job);
            if (from == &pump->finished)
                pump_pass_verdicts(pump, 1);
            continue;
        }
        count--;
        if (!load_verdict(pump, job))
            job_list_push(&rest, job);
    }
    job_list_append(&rest, from);
    *from = rest;
}

/* Stages go out before the verdict, or with it if there was no earlier request. Stages that the store did not
 * take are sent again (keep_stages). */
static void load_stages(struct pump *pump) {
    if (!atomic_exchange(&pump->desk->has_stages, false))
        return;
    for (struct job *job = pump->held; job; job = job->held_next) {
        int stages = atomic_load(&job->stages);
        if (stages != job->recorded && !job->lost && !job->settled &&
            outbound_add(outbound_of(pump, job), BOXCAR_RECORD, job))
            job->recorded = stages;
    }
}

/* The store did not take the request. */
static void keep_stages(struct pump *pump) {
    for (int box = 0; box < BOXES; box++) {
        const struct gather_list *list = &pump->boxes[box].out.lists[BOXCAR_RECORD];
        for (size_t i = 0; i < list->count; i++) {
            outbound_job(list, i)->recorded = 0;
            atomic_store(&pump->desk->has_stages, true);
        }
    }
}

/* If an earlier try, whose answer was lost, may have settled a job, a renewal of it could fail, although it
 * is not lost. */
static bool wants_renewal(const struct pump *pump, const struct job *job) {
    return !job->sent && !job->lost && !job->refused && !(pump->sent_before && job->collected);
}

/* Renews what was leased a while ago and is not being settled; after an outage, everything. */
static void load_renewals(struct pump *pump) {
    int64_t young = pump_is_attached(pump) ? pump->now_ms - pump_tuning(pump)->lease_ms / 4 : INT64_MAX;
    for (struct job *job = pump->held; job; job = job->held_next)
        if (wants_renewal(pump, job) && job->leased_at_ms <= young)
            (void)outbound_add(outbound_of(pump, job), BOXCAR_RENEW, job);
}

/* ---- what comes back ---- */

/* The outcome of a verdict that took effect. */
static enum outcome outcome_of(struct pump *pump, const struct job *job, boxcar_settle_kind kind) {
    if (kind != BOXCAR_ABANDON || !pump_was_last_attempt(pump, job))
        return OUTCOMES_OF[kind];
    log_message(pump_logger(pump), BOXCAR_LOG_ERROR, "buried", job->message,
                (boxcar_str){job->error, job->error_len},
                "that was the last attempt: the message is a dead letter (exhausted)");
    return OUTCOME_DEAD;
}

static void take_settled(struct pump *pump, struct job *job, boxcar_settle_kind kind, bool affected) {
    if (!affected) {
        pump_count_lost(pump, job);
        pump_give_back_behind(pump, job);
    } else if (job->given_back) {
        atomic_fetch_add(&pump->worker->count.given_back, 1);
    } else if (job->handler) {
        atomic_fetch_add(&job->handler->outcomes[outcome_of(pump, job, kind)], 1);
    }
    pump_forget(pump, job);
}

/* A job that was not renewed has lost its lease. Its handler is cancelled at once if it runs; a job that has
 * not started is forgotten. A job that has finished meanwhile is in the list of finished jobs and ends
 * there. */
static void take_renewed(struct pump *pump, struct job *job, bool affected, int64_t asked_at_ms) {
    if (affected) {
        job->leased_at_ms = asked_at_ms;
        atomic_fetch_add(&pump->worker->count.leases_renewed, 1);
        return;
    }
    job->lost = true;
    pump_give_back_behind(pump, job);
    if (pump->waiting == job || desk_take_back_one(pump->desk, job)) {
        pump_count_lost(pump, job);
        pump_forget(pump, job);
        return;
    }
    desk_cancel(pump->desk, job, CANCEL_LEASE_LOST);
}

static void take_list(struct pump *pump, const struct gather_list *list, boxcar_settle_kind kind,
                      struct work_id_list *affected, int64_t asked_at_ms) {
    gather_sort(affected);
    for (size_t i = 0; i < list->count; i++) {
        bool is_affected = gather_affected(affected, &list->items[i]);
        if (kind == BOXCAR_RENEW)
            take_renewed(pump, outbound_job(list, i), is_affected, asked_at_ms);
        else
            take_settled(pump, outbound_job(list, i), kind, is_affected);
    }
}

static void take_answer(struct pump *pump, const struct request *request, struct result *result,
                        int64_t asked_at_ms) {
    pump_take_waits(pump, result, request->base.sent_before);
    for (int box = 0; box < BOXES; box++)
        for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
            if (kind != BOXCAR_RESOLVE && kind != BOXCAR_RECORD)
                take_list(pump, &pump->boxes[box].out.lists[kind], (boxcar_settle_kind)kind,
                          &result->parts[box].settled[kind], asked_at_ms);
}

/* ---- when it fails ---- */

/* The loop has handlers to look after: it waits for no store longer than this. But a server that is only slow
 * must be able to answer. Each failure means a new session, which is the slowest of all, so the next try is
 * more patient. */
void pump_set_patience(struct pump *pump) {
    int64_t call_ms = pump_tuning(pump)->lease_ms / 3;
    if (call_ms < CALL_MS_MIN)
        call_ms = CALL_MS_MIN;
    for (int i = 0; i < pump->too_slow && call_ms < CALL_MS_MAX; i++)
        call_ms *= 2;
    pump->store->impatient = true;
    pump->store->call_ms = call_ms < CALL_MS_MAX ? call_ms : CALL_MS_MAX;
}

static void try_again_later(struct pump *pump) {
    pump->retry_at_ms = clock_ms() + pace_retry_ms(pump->failures, chance(pump));
}

/* Logs now and then that the store is still away. */
static void remind(struct pump *pump, const boxcar_error *err) {
    int64_t now = clock_ms();
    if (now - pump->told_at_ms < REMIND_MS)
        return;
    pump->told_at_ms = now;
    store_log(pump_logger(pump), BOXCAR_LOG_WARN, "detached", NULL, 0,
              "the store still cannot be used, trying again: %s", err->message);
}

void pump_detach(struct pump *pump, const boxcar_error *err) {
    pump_leave_place(pump);
    pump->last_error = *err;
    pump->too_slow++;
    pump->too_slow_at_ms = clock_ms();
    pump_set_patience(pump);
    atomic_fetch_add(&pump->worker->count.store_errors, 1);
    if (pump->failures++ > 0) {
        remind(pump, err);
    } else {
        pump->detached_at_ms = pump->now_ms;
        pump->told_at_ms = clock_ms();
        atomic_fetch_add(&pump->worker->count.detachments, 1);
        if (atomic_load(&pump->worker->state) == BOXCAR_WORKER_RUNNING)
            atomic_store(&pump->worker->state, BOXCAR_WORKER_DETACHED);
        if (pump_is_news(pump, true))
            store_log(pump_logger(pump), BOXCAR_LOG_WARN, "detached", NULL, 0,
                      "the store cannot be used, trying again: %s", err->message);
    }
    try_again_later(pump);
}

void pump_attach(struct pump *pump) {
    bool is_news = pump_is_news(pump, false);
    int64_t away = clock_ms() - pump->detached_at_ms;
    pump->claims_fail = false;
    if (pump->too_slow > 0 && clock_ms() - pump->too_slow_at_ms >= SLOW_MS) {
        pump->too_slow = 0;
        pump_set_patience(pump);
    }
    if (pump->failures == 0 && !is_news)
        return;
    pump->failures = 0;
    pump_look_soon(pump);
    pump->heartbeat.next_ms = pump->now_ms;
    if (atomic_load(&pump->worker->state) == BOXCAR_WORKER_DETACHED)
        atomic_store(&pump->worker->state, BOXCAR_WORKER_RUNNING);
    if (is_news)
        log_number(pump_logger(pump), BOXCAR_LOG_INFO, "attached", "away_ms", away, "the store is back");
}

/* An error at the start is a mistake and ends the worker, unless the call may work later. */
static void give_up_or_detach(struct pump *pump, const boxcar_error *err) {
    if (pump->has_worked || err->retryable) {
        pump_detach(pump, err);
        return;
    }
    pump->done = true;
    pump->end_error = *err;
}

/* A failure that is not a refusal is an outage: the worker waits until it is over. */
static void take_failure(struct pump *pump, boxcar_status status, bool claims, bool beats,
                         const boxcar_error *err) {
    bool asks_only = claims && !beats && has_nothing_to_send(pump);
    if (pump_ends_with_subscription(pump, err)) {
        pump_keep_verdicts(pump);
        return;
    }
    pump->sent_before = pump->sent_before || err->outcome_unknown;
    keep_stages(pump);
    for (int box = 0; box < BOXES; box++)
        if (pump->boxes[box].out.lists[BOXCAR_RENEW].count > 0)
            pump->next_renewal_ms = pump->now_ms;
    if (pump_suspects_heartbeat(pump, beats, err)) {
        pump_keep_verdicts(pump);
        return;
    }
    if (refusal_of(status) != REFUSAL_NONE && pump_count_verdicts(pump) > 0) {
        pump_take_refusal(pump, err);
        return;
    }
    pump_keep_verdicts(pump);
    pump->claims_fail = pump->claims_fail || asks_only;
    give_up_or_detach(pump, err);
}

/* ---- claims that fail, or wait in vain, while the rest works ---- */

/* The store is there if everything went well. A claim that waited in vain for its turn shows neither that
 * claims work nor that they fail. */
static void judge_claims(struct pump *pump, const struct result *result) {
    int held_up = result->parts[BOXCAR_OUTBOX].held_up + result->parts[BOXCAR_INBOX].held_up;
    atomic_fetch_add(&pump->worker->count.held_up, held_up);
    if (pump_ends_with_subscription(pump, &result->claim_error))
        return;
    if (result->claim_error.status != BOXCAR_OK) {
        pump->claims_fail = true;
        give_up_or_detach(pump, &result->claim_error);
    } else if (pump->claims_fail && held_up > 0) {
        try_again_later(pump);
    } else {
        pump_attach(pump);
    }
}

/* ---- the exchange ---- */

/* One suspect at a time: two boxes that are asked at once bring one each, so only one of them may. */
static bool takes_suspects(const struct pump *pump, int box, const int claim_sizes[BOXES]) {
    if ((pump->suspect && !pump->suspect->collected) || pump->now_ms < pump->no_suspects_until_ms)
        return false;
    if (claim_sizes[1 - box] != 0 && (int)(pump->turn & 1) != box)
        return false;
    return claim_sizes[box] == 0 || pump_may_take_suspects(pump);
}

static void fill_box(struct pump *pump, struct request *request, int box, const int claim_sizes[BOXES]) {
    const struct pump_box *from = &pump->boxes[box];
    const struct gather_list *fails = &from->out.lists[BOXCAR_FAIL];
    request->own[box] = (struct request_own){
        .fail_reason = fails->count > 0 ? reason_of(outbound_job(fails, 0)) : BOXCAR_REASON_NONE,
        .waits = from->out.waits,
        .no_suspects = !takes_suspects(pump, box, claim_sizes)};
    request->parts[box] = (boxcar_request_part){.reader = from->reader > BOXCAR_INBOX ? from->reader : 0,
                                                .lease_ms = pump_tuning(pump)->lease_ms,
                                                .claim_size = claim_sizes[box],
                                                .claim_bytes = pump_tuning(pump)->batch_bytes,
                                                .topics = from->patterns,
                                                .topic_count = from->pattern_count};
    for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
        request->parts[box].settle[kind] =
            (boxcar_settlement_list){from->out.lists[kind].items, from->out.lists[kind].count};
}

void pump_look_soon(struct pump *pump) {
    for (int box = 0; box < BOXES; box++)
        pump->boxes[box].found = pump_serves(pump, box);
}

/* Each box that was asked: again at once, or after its pause. */
static void plan_next_look(struct pump *pump, const int claim_sizes[BOXES], const size_t claimed[BOXES]) {
    pump->looked_at_ms = clock_ms();
    pump->turn++;
    for (int i = 0; i < BOXES; i++) {
        struct pump_box *box = &pump->boxes[i];
        if (claim_sizes[i] == 0)
            continue;
        box->looked_at_ms = pump->looked_at_ms;
        box->found = claimed[i] > 0;
        if (box->found)
            box->pause_ms = PACE_PAUSE_FIRST_MS;
        else
            box->next_look_ms = pump->looked_at_ms + pace_pause(&box->pause_ms, pump_tuning(pump)->poll_ms);
    }
    if (claimed[BOXCAR_OUTBOX] + claimed[BOXCAR_INBOX] > 0) {
        pace_found(&pump->pace);
        pump->found_at_ms = pump->looked_at_ms;
    } else {
        pace_in_vain(&pump->pace);
    }
}

static void learn_from_claim(struct pump *pump, const int claim_sizes[BOXES], const struct result *result) {
    const size_t claimed[BOXES] = {result->parts[BOXCAR_OUTBOX].claimed_count,
                                   result->parts[BOXCAR_INBOX].claimed_count};
    struct pace_view view = pump_pace_view(pump);
    atomic_fetch_add(&pump->worker->count.claims, 1);
    plan_next_look(pump, claim_sizes, claimed);
    pace_grow(&pump->pace, &view, claim_sizes, claimed);
}

/* What goes out, but for the claims. */
static void load(struct pump *pump, bool renew) {
    for (int box = 0; box < BOXES; box++)
        outbound_clear(&pump->boxes[box].out);
    load_stages(pump);
    if (!pump_is_refused(pump) || (!renew && has_nothing_to_send(pump)))
        load_verdicts(pump);
    if (renew)
        load_renewals(pump);
}

static size_t count_claimed(const struct result *result) {
    return result->parts[BOXCAR_OUTBOX].claimed_count + result->parts[BOXCAR_INBOX].claimed_count;
}

bool pump_exchange(struct pump *pump, const int claim_sizes[BOXES], bool renew) {
    int64_t asked_at_ms = clock_ms();
    bool claims = claim_sizes[BOXCAR_OUTBOX] + claim_sizes[BOXCAR_INBOX] > 0;
    bool beats = pump_heartbeat_is_due(pump) && !pump_beats_alone(pump);
    load(pump, renew);
    if (has_nothing_to_send(pump) && !claims)
        return false;
    struct request request = {.base = {.owner = pump->worker->owner, .sent_before = pump->sent_before}};
    for (int box = 0; box < BOXES; box++)
        fill_box(pump, &request, box, claim_sizes);
    if (beats) {
        request.instances = pump->heartbeat.instances;
        request.instance_count = pump_fill_instances(pump);
    }
    struct result result = {.arena = ARENA_INIT};
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_status status = request_send(pump->store, &request, &result, &err);
    if (status != BOXCAR_OK) {
        pump_end_turn(pump, claims, 0);
        take_failure(pump, status, claims, beats, &err);
        return true;
    }
    judge_claims(pump, &result);
    pump->has_worked = true;
    pump_take_heartbeat(pump, beats);
    pump_take_verdicts(pump);
    pump_note_flushed(pump);
    /* Some verdicts of a request whose answer was lost may not have gone out again yet. */
    pump->sent_before = pump->sent_before && (pump_is_refused(pump) || pump->finished.count > 0);
    take_answer(pump, &request, &result, asked_at_ms);
    size_t claimed = count_claimed(&result);
    if (claims)
        learn_from_claim(pump, claim_sizes, &result);
    pump_admit(pump, &result, asked_at_ms);
    pump_end_turn(pump, claims, claimed); /* the work is in the queue: the next store's comes behind it */
    if (pump->claims_fail)
        pump_look_soon(pump); /* at the next try */
    return true;
}
