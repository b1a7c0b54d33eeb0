/* The heartbeat of the worker: every few seconds, a row for each box that it serves.
 *
 * It goes along with the next round trip. It goes alone when there is no round trip, or when the store
 * refuses it. A role without the right to register can still work, although the doctor does not see it; so
 * the rest of the request must not fail with the heartbeat. */
#include "pump.h"

#include "request/request.h"

/* A look at an idle store leaves no trace, so that its file stays as it is. */
bool pump_heartbeat_is_due(const struct pump *pump) {
    return pump->now_ms >= pump->heartbeat.next_ms && !pump->only_looks;
}

/* While a refused verdict is tried alone, the heartbeat goes in a request of its own. */
bool pump_beats_alone(const struct pump *pump) {
    return pump->heartbeat.way != HEARTBEAT_ALONG || pump_is_refused(pump);
}

size_t pump_fill_instances(struct pump *pump) {
    struct heartbeat *beat = &pump->heartbeat;
    struct instance instance =
        presence_instance(pump->worker->owner, pump_tuning(pump)->concurrency, beat->host);
    size_t count = 0;
    for (int box = 0; box < BOXES; box++) {
        if (!pump_serves(pump, box))
            continue;
        instance.box = pump->boxes[box].reader;
        instance.topics = pump->boxes[box].patterns;
        instance.topic_count = pump->boxes[box].pattern_count;
        beat->instances[count++] = instance;
    }
    return count;
}

/* ---- along ---- */

void pump_take_heartbeat(struct pump *pump, bool along) {
    struct heartbeat *beat = &pump->heartbeat;
    if (along)
        beat->next_ms = pump->now_ms + beat->interval_ms;
    else if (beat->way == HEARTBEAT_SUSPECTED) /* without it, the request is taken */
        beat->way = HEARTBEAT_ALONE;
}

bool pump_suspects_heartbeat(struct pump *pump, bool along, const boxcar_error *err) {
    struct heartbeat *beat = &pump->heartbeat;
    if (err->retryable)
        return false;
    if (!along) {
        if (beat->way == HEARTBEAT_SUSPECTED) /* it was something else */
            beat->way = HEARTBEAT_ALONG;
        return false;
    }
    beat->way = HEARTBEAT_SUSPECTED;
    atomic_fetch_add(&pump->worker->count.store_errors, 1);
    return true;
}

/* ---- alone ---- */

void pump_beat(struct pump *pump) {
    struct heartbeat *beat = &pump->heartbeat;
    boxcar_error err = BOXCAR_ERROR_INIT;
    size_t count = pump_fill_instances(pump);
    boxcar_status status = count > 0 ? request_beat(pump->store, beat->instances, count, 0, &err) : BOXCAR_OK;
    if (pump_ends_with_subscription(pump, &err)) {
        beat->next_ms = pump->now_ms + beat->interval_ms;
        return;
    }
    if (status != BOXCAR_OK && err.retryable) {
        beat->next_ms = pump->now_ms + beat->interval_ms;
        pump_detach(pump, &err);
        return;
    }
    if (status != BOXCAR_OK && !beat->is_mute)
        store_log(pump_logger(pump), BOXCAR_LOG_WARN, "heartbeat", NULL, 0,
                  "this worker cannot be registered: %s", err.message);
    if (status == BOXCAR_OK && beat->is_mute) /* it was given the right meanwhile */
        beat->way = HEARTBEAT_ALONG;
    beat->is_mute = status != BOXCAR_OK;
    pump_attach(pump);
    beat->next_ms = pump->now_ms + beat->interval_ms;
}
