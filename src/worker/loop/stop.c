/* The end of a worker. Handlers may go on for the grace time; shortly before it is over they are told to
 * stop, with enough time for a program that ignores that to be killed; then their threads are given up. */
#include "pump.h"

#include "base/error.h"
#include "worker/crew/log_message.h"

#define OBEY_MS 1500       /* between telling handlers to stop and giving up on them */
#define LAST_WORDS_MS 2000 /* to settle what was given up */
#define ABANDONED_MAX 1024 /* threads that hang; then the program is better started anew */
#define CALL_MS_LAST 1000  /* what a call gets at least, however little time is left */
#define STEP_MS 20

void pump_supervise(struct pump *pump, bool all) {
    size_t abandoned = desk_supervise(pump->desk, all);
    if (abandoned == 0)
        return;
    atomic_fetch_add(&pump->worker->count.handlers_abandoned, (int64_t)abandoned);
    store_log(pump_logger(pump), BOXCAR_LOG_ERROR, "abandon_handler", NULL, 0,
              "%zu handlers did not stop when told to and were given up", abandoned);
    if (pump->view.abandoned + abandoned <= ABANDONED_MAX || pump->stopping)
        return;
    error_set(&pump->end_error, BOXCAR_E_STORE,
              "%d handlers hang for ever: mend them, and start this program anew", ABANDONED_MAX);
    pump->worker->is_hopeless = true;
    worker_stop(pump->worker);
}

/* The grace time began when stopping was asked for, though the loop may have been waiting for the store then.
 */
static void begin_stop(struct pump *pump) {
    pump->stopping = true;
    pump->stop_by_ms = atomic_load(&pump->worker->stop_asked_ms) + pump_tuning(pump)->grace_ms;
    atomic_store(&pump->worker->state, BOXCAR_WORKER_STOPPING);
    log_number(pump_logger(pump), BOXCAR_LOG_INFO, "stop", "running", (int64_t)pump->view.running,
               "stopping; handlers that run may finish");
    pump_give_back(pump, true);
    pump_stop_routes(pump);
}

/* A store that does not answer is not waited for when the time is over. */
static void shorten_calls(struct pump *pump) {
    int64_t left_ms = pump->stop_by_ms - pump->now_ms;
    if (left_ms < CALL_MS_LAST)
        left_ms = CALL_MS_LAST;
    if (pump->store->call_ms > left_ms)
        pump->store->call_ms = left_ms;
}

/* A short grace time is shared: half of it for the handlers, half for them to obey. */
static int64_t cancel_at(const struct pump *pump) {
    int64_t grace = pump_tuning(pump)->grace_ms;
    return pump->stop_by_ms - (grace < 2 * OBEY_MS ? grace / 2 : OBEY_MS);
}

static void end_unsettled(struct pump *pump) {
    pump->done = true;
    pump->worker->has_unsettled = true;
    error_set(&pump->end_error, BOXCAR_E_UNAVAILABLE,
              "the store could not be reached in time; messages left until their lease ends: %zu",
              pump->held_count);
}

void pump_drive_stop(struct pump *pump) {
    int requests = atomic_load(&pump->worker->stop_requests);
    if (!pump->stopping && requests > 0)
        begin_stop(pump);
    if (!pump->stopping)
        return;
    shorten_calls(pump);
    if (pump->held_count == 0) {
        pump->done = true;
        return;
    }
    if (!pump->cancelled && (requests > 1 || pump->now_ms >= cancel_at(pump))) {
        pump->cancelled = true;
        pump->cancelled_at_ms = pump->now_ms;
        desk_cancel(pump->desk, NULL, CANCEL_STOP);
    }
    if (!pump->cancelled)
        return;
    int64_t give_up_at = pump->cancelled_at_ms + OBEY_MS;
    if (pump->now_ms >= give_up_at)
        pump_supervise(pump, true);
    if (pump->now_ms >= give_up_at + LAST_WORDS_MS)
        end_unsettled(pump);
}

int64_t pump_next_stop_event(const struct pump *pump) {
    if (!pump->stopping)
        return INT64_MAX;
    return pump->cancelled ? pump->now_ms + STEP_MS : cancel_at(pump);
}
