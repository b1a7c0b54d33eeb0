#include "base/clock.h"
#include "base/options.h"
#include "base/utf8.h"
#include "check.h"
#include "worker/exec/exec.h"
#include "worker/fleet/fleet.h"
#include "worker/forward/forward.h"
#include "worker/loop/pump.h"

static const char *const STATE_NAMES[] = {
    [BOXCAR_WORKER_IDLE] = "idle",         [BOXCAR_WORKER_STARTING] = "starting",
    [BOXCAR_WORKER_RUNNING] = "running",   [BOXCAR_WORKER_DETACHED] = "detached",
    [BOXCAR_WORKER_STOPPING] = "stopping", [BOXCAR_WORKER_STOPPED] = "stopped",
};

const char *boxcar_worker_state_name(boxcar_worker_state state) {
    return (unsigned)state < sizeof(STATE_NAMES) / sizeof(STATE_NAMES[0]) ? STATE_NAMES[state] : "?";
}

/* A worker for a subscription works for that one alone. */
static boxcar_status add_forwarding(boxcar_worker *worker, boxcar_error *err) {
    if (!str_is_absent(worker->subscription))
        return BOXCAR_OK;
    worker->forwarding = forwarding_new(worker);
    return worker->forwarding ? BOXCAR_OK : error_no_memory(err);
}

boxcar_status boxcar_worker_new(const boxcar_worker_options *options, boxcar_worker **ret_worker,
                                boxcar_error *err) {
    boxcar_worker_options given = BOXCAR_WORKER_OPTIONS_INIT;
    boxcar_worker *worker;

    TRY(check_given(ret_worker, "ret_worker", err));
    TRY(worker_new(options, &worker, err));
    TRY(options_read(&given, sizeof(given), options, "options", err));
    boxcar_status status = given.fanout ? add_forwarding(worker, err) : BOXCAR_OK;
    if (status == BOXCAR_OK && given.fleet)
        status = fleet_new(worker, given.fleet, err);
    if (status == BOXCAR_OK)
        *ret_worker = worker;
    else
        boxcar_worker_free(worker);
    return status;
}

static boxcar_status check_handler(const boxcar_handler *handler, boxcar_error *err) {
    TRY(limits_check_box(handler->box, err));
    TRY(limits_check_topic_pattern(handler->topic, "topic", err));
    if ((unsigned)handler->kind > BOXCAR_HANDLER_DISCARD)
        return error_invalid(err, "kind", "kind is unknown: give one of BOXCAR_HANDLER_*");
    if (handler->kind == BOXCAR_HANDLER_FUNCTION && !handler->run)
        return error_invalid(err, "run", "run is NULL: it is required");
    return BOXCAR_OK;
}

static void release_command(void *command) { exec_command_free(command); }

static boxcar_status add_command(boxcar_worker *worker, const boxcar_handler *handler, boxcar_error *err) {
    struct exec_command *words;

    TRY(exec_command_new(handler->command, &words, err));
    return handler_table_add(worker->handlers, handler->box, handler->topic, exec_run, words, release_command,
                             err);
}

boxcar_status boxcar_worker_handle(boxcar_worker *worker, const boxcar_handler *given, boxcar_error *err) {
    boxcar_handler handler = BOXCAR_HANDLER_INIT;

    TRY(check_given(worker, "worker", err));
    TRY(options_read(&handler, sizeof(handler), given, "handler", err));
    TRY(check_handler(&handler, err));
    if (atomic_load(&worker->state) != BOXCAR_WORKER_IDLE)
        return error_set(err, BOXCAR_E_CONFLICT, "the worker has been started: register handlers before");
    if (handler.kind == BOXCAR_HANDLER_EXEC)
        return add_command(worker, &handler, err);
    if (handler.kind == BOXCAR_HANDLER_DISCARD)
        handler.run = NULL;
    return handler_table_add(worker->handlers, handler.box, handler.topic, handler.run, handler.context, NULL,
                             err);
}

boxcar_status boxcar_worker_run(boxcar_worker *worker, boxcar_error *err) {
    int idle = BOXCAR_WORKER_IDLE;

    TRY(check_given(worker, "worker", err));
    if (!atomic_compare_exchange_strong(&worker->state, &idle, BOXCAR_WORKER_STARTING))
        return error_set(err, BOXCAR_E_CONFLICT, "the worker has been started before: make a new one");
    return worker->fleet ? fleet_run(worker->fleet, err) : pump_run(worker, err);
}

void boxcar_worker_stop(boxcar_worker *worker) {
    if (!worker)
        return;
    worker_stop(worker);
    if (worker->fleet)
        fleet_hurry(worker->fleet);
}

boxcar_status boxcar_worker_reconfigure(boxcar_worker *worker, const boxcar_worker_options *options,
                                        boxcar_error *err) {
    TRY(check_given(worker, "worker", err));
    return worker_reconfigure(worker, options, err);
}

void boxcar_worker_free(boxcar_worker *worker) {
    if (worker) {
        forwarding_free(worker->forwarding);
        fleet_free(worker->fleet);
    }
    worker_free(worker);
}

boxcar_status boxcar_worker_fleet_read(boxcar_worker *worker, boxcar_fleet_store_list **ret_list,
                                       boxcar_error *err) {
    TRY(check_given(worker, "worker", err));
    TRY(check_given(ret_list, "ret_list", err));
    return fleet_read(worker->fleet, ret_list, err);
}

boxcar_owner boxcar_worker_owner(const boxcar_worker *worker) {
    return worker ? worker->owner : (boxcar_owner){0};
}

void boxcar_worker_stats_read(boxcar_worker *worker, boxcar_worker_stats *ret_stats) {
    boxcar_worker_stats stats = BOXCAR_WORKER_STATS_INIT;

    if (!worker || answer_check(ret_stats, "ret_stats", NULL) != BOXCAR_OK)
        return;
    stats.state = (boxcar_worker_state)atomic_load(&worker->state);
    if (stats.state != BOXCAR_WORKER_IDLE && stats.state != BOXCAR_WORKER_STOPPED)
        stats.loop_age_ms = clock_ms() - atomic_load(&worker->turned_at_ms);
    stats.queued = atomic_load(&worker->count.queued);
    stats.running = atomic_load(&worker->count.running);
    stats.concurrency = atomic_load(&worker->count.concurrency);
    stats.claims = atomic_load(&worker->count.claims);
    stats.claimed = atomic_load(&worker->count.claimed);
    stats.given_back = atomic_load(&worker->count.given_back);
    stats.unhandled = atomic_load(&worker->count.unhandled);
    stats.leases_renewed = atomic_load(&worker->count.leases_renewed);
    stats.leases_lost = atomic_load(&worker->count.leases_lost);
    stats.reaped = atomic_load(&worker->count.reaped);
    stats.store_errors = atomic_load(&worker->count.store_errors);
    stats.detachments = atomic_load(&worker->count.detachments);
    stats.handlers_abandoned = atomic_load(&worker->count.handlers_abandoned);
    stats.held_up = atomic_load(&worker->count.held_up);
    if (worker->fleet)
        fleet_add_counters(worker->fleet, &stats);
    answers_write(ret_stats, &stats, 1, sizeof(stats));
}

/* Each store of a fleet has a number of its own for a subscription. */
static boxcar_box reader_of(const boxcar_worker *worker, const struct handler *handler) {
    bool has_many = worker->fleet && worker->subscription.data;
    return has_many ? -1 : worker_reader(worker, handler->box);
}

bool boxcar_worker_handler_stats_read(boxcar_worker *worker, size_t i, boxcar_handler_stats *ret_stats) {
    if (!worker || answer_check(ret_stats, "ret_stats", NULL) != BOXCAR_OK || i > worker->handlers->count)
        return false;
    if (i == worker->handlers->count) {
        handler_read_stats(worker->wait_handler, BOXCAR_OUTBOX, ret_stats);
        return true;
    }
    struct handler *handler = worker->handlers->items[i];
    handler_read_stats(handler, reader_of(worker, handler), ret_stats);
    return true;
}

bool boxcar_worker_forward_stats_read(boxcar_worker *worker, size_t i, boxcar_forward_stats *ret_stats) {
    if (!worker || answer_check(ret_stats, "ret_stats", NULL) != BOXCAR_OK || !worker->forwarding)
        return false;
    return forwarding_read_stats(worker->forwarding, i, ret_stats);
}
