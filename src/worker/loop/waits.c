/* Waits for joins. No handler runs for them: the store evaluates them in the next round trip, together with
 * everything else that goes out, so that reading the join, enqueueing the continuation and acking the wait
 * are one transaction. */
#include "pump.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "worker/crew/log_message.h"

/* Only the main reader of the outbox meets waits. */
static bool meets_waits(const struct pump *pump) {
    return pump->boxes[BOXCAR_OUTBOX].reader == BOXCAR_OUTBOX;
}

bool pump_is_wait(const struct pump *pump, const struct job *job) {
    return job->message->box == BOXCAR_OUTBOX && meets_waits(pump) &&
           str_equal(job->message->topic, boxcar_str_of(pump->wait_topic));
}

static void refuse(struct pump *pump, struct job *job, boxcar_status status, const boxcar_error *err) {
    log_message(pump_logger(pump), BOXCAR_LOG_ERROR, "wait", job->message, boxcar_str_of(err->message),
                "this wait cannot be evaluated");
    job->error = memory_copy_text(boxcar_str_of(err->message));
    job->error_len = job->error ? strlen(job->error) : 0;
    pump_finish(pump, job, status == BOXCAR_E_INVALID ? BOXCAR_VERDICT_FAIL : BOXCAR_VERDICT_DEFER,
                WAIT_DELAY_MIN_MS);
}

/* A payload that was made by hand may be anything. */
void pump_admit_wait(struct pump *pump, struct job *job) {
    struct arena *arena = &job->load->result.arena;
    struct wait *wait = arena_alloc(arena, sizeof(*wait));
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_status status =
        wait ? wait_parse(job->message->payload, arena, wait, &err) : error_no_memory(&err);
    if (status != BOXCAR_OK) {
        refuse(pump, job, status, &err);
        return;
    }
    wait->correlation_id = job->message->correlation_id;
    wait->message_id = job->message->message_id;
    wait->continuation_id = boxcar_join_continuation_id(job->message->message_id);
    job->wait = wait;
    pump_finish(pump, job, BOXCAR_VERDICT_ACK, BOXCAR_BACKOFF);
}

/* ---- the answer ---- */

static const struct {
    enum outcome counted;
    boxcar_log_level level;
    const char *text;
} SAYINGS[] = {
    [WAIT_DEFERRED] = {OUTCOME_DEFERRED, BOXCAR_LOG_DEBUG, "the join is pending: waiting on"},
    [WAIT_COMPLETED] = {OUTCOME_ACKED, BOXCAR_LOG_INFO, "the join has ended: enqueued on_complete"},
    [WAIT_FAILED] = {OUTCOME_ACKED, BOXCAR_LOG_INFO, "the join has failed: enqueued on_fail"},
    [WAIT_SILENT] = {OUTCOME_ACKED, BOXCAR_LOG_INFO, "the join has failed: no continuation is wanted then"},
    [WAIT_NO_JOIN] = {OUTCOME_FAILED, BOXCAR_LOG_ERROR, "the join does not exist: failed"},
};

static void log_outcome(struct pump *pump, const struct job *job, enum wait_outcome outcome) {
    if (!store_logs(pump_logger(pump), SAYINGS[outcome].level))
        return;
    char join_id[BOXCAR_UUID_TEXT_SIZE], message_id[BOXCAR_UUID_TEXT_SIZE];
    boxcar_uuid_format(job->wait->join_id.uuid, join_id);
    boxcar_uuid_format(job->message->message_id.uuid, message_id);
    const boxcar_log_field fields[] = {{"join_id", boxcar_str_of(join_id)},
                                       {"message_id", boxcar_str_of(message_id)}};
    store_log(pump_logger(pump), SAYINGS[outcome].level, "wait", fields, sizeof(fields) / sizeof(fields[0]),
              "%s", SAYINGS[outcome].text);
}

/* If an earlier try of the same request has settled a wait, it counts as lost in this one. That is not
 * logged. */
void pump_take_waits(struct pump *pump, const struct result *result, bool sent_before) {
    const struct gather_list *list = &pump->boxes[BOXCAR_OUTBOX].out.lists[BOXCAR_RESOLVE];
    for (size_t i = 0; i < list->count; i++) {
        struct job *job = outbound_job(list, i);
        enum wait_outcome outcome = result->parts[BOXCAR_OUTBOX].waits[i];
        if (outcome != WAIT_LOST) {
            atomic_fetch_add(&job->handler->outcomes[SAYINGS[outcome].counted], 1);
            log_outcome(pump, job, outcome);
        } else if (!sent_before) {
            pump_count_lost(pump, job);
        }
        pump_forget(pump, job);
    }
}

/* ---- without handlers ---- */

bool pump_looks_after_waits(const struct pump *pump) {
    return !pump_serves(pump, BOXCAR_OUTBOX) || !meets_waits(pump);
}

/* A claim of waits would sort through all other messages. The end of a join evaluates most waits anyway. */
bool pump_evaluate_waits(struct pump *pump) {
    if (!pump_looks_after_waits(pump) || pump->stopping || pump->now_ms < pump->next_waits_ms)
        return false;
    struct upkeep_done done = {.waits = 0};
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_status status = pump->store->ops->maintain(pump->store, UPKEEP_WAITS, &done, &err);
    pump->next_waits_ms = pump->now_ms + (done.waits > 0 ? 0 : pump_tuning(pump)->poll_ms);
    if (status == BOXCAR_OK) {
        pump_attach(pump);
        return done.waits > 0;
    }
    atomic_fetch_add(&pump->worker->count.store_errors, 1);
    pump->next_waits_ms = pump->now_ms + WAIT_DELAY_MAX_MS;
    if (err.retryable)
        pump_detach(pump, &err);
    else
        store_log(pump_logger(pump), BOXCAR_LOG_WARN, "wait", NULL, 0, "waits cannot be evaluated: %s",
                  err.message);
    return false;
}

/* ---- the topics ---- */

static boxcar_status refuse_handler(const struct pump *pump, boxcar_error *err) {
    return error_set(err, BOXCAR_E_CONFLICT,
                     "topic '%s' belongs to the waits for joins: give it no handler, or change the setting "
                     "join_wait_topic",
                     pump->wait_topic);
}

/* Room for the waits' topic is always there. */
static boxcar_status copy_patterns(struct pump *pump, int box, boxcar_error *err) {
    const struct handler_table *handlers = pump->worker->handlers;
    size_t count = handlers->boxes[box].count;
    boxcar_str *patterns = calloc(count + 1, sizeof(*patterns));
    if (!patterns)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++)
        patterns[i] = handlers->boxes[box].items[i].topic;
    pump->boxes[box].patterns = patterns;
    pump->boxes[box].pattern_count = count;
    return BOXCAR_OK;
}

/* Waits are messages of the outbox, so a worker that serves the outbox claims them, too. */
static boxcar_status add_waits(struct pump *pump, boxcar_error *err) {
    struct pump_box *box = &pump->boxes[BOXCAR_OUTBOX];
    boxcar_str topic = boxcar_str_of(pump->wait_topic);
    if (!meets_waits(pump))
        return BOXCAR_OK;
    for (size_t i = 0; i < box->pattern_count; i++)
        if (str_equal(box->patterns[i], topic))
            return refuse_handler(pump, err);
    if (box->pattern_count > 0)
        box->patterns[box->pattern_count++] = topic;
    return BOXCAR_OK;
}

boxcar_status pump_set_topics(struct pump *pump, boxcar_str wait_topic, boxcar_error *err) {
    pump->wait_topic = memory_copy_text(wait_topic);
    if (!pump->wait_topic)
        return error_no_memory(err);
    for (int box = 0; box < BOXES; box++)
        TRY(copy_patterns(pump, box, err));
    return add_waits(pump, err);
}
