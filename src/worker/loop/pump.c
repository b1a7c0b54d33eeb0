/* The work loop: one thread that claims for all handlers and settles for all of them.
 *
 * Each turn: take what is finished, see to handlers that hang, and if there is anything to say or
 * room for more, make one round trip that carries results out and brings work in. Then sleep until
 * a handler finishes, the store may have work, or a time comes. Pauses grow from a millisecond to
 * the poll interval while there is nothing to do.
 *
 * Only this thread touches struct pump and the store. */
#include "pump.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/utf8.h"
#include "core/setting.h"
#include "request/request.h"
#include "worker/forward/forward.h"

#define NAP_MIN_MS 3     /* shorter waits are not worth telling the store */
#define DEFERRED_MS 2000 /* what the worker itself puts off is back by then */
#define BESIDE_MS 20     /* between looks at a box that has nothing, while the other one has work */
#define WATCH_MS 1000    /* no wait is longer, so that the loop is seen to turn */

static void set_state(struct pump *pump, boxcar_worker_state state) {
    atomic_store(&pump->worker->state, (int)state);
}

/* ---- each turn's beginning ---- */

static void look_now(struct pump *pump, int64_t now_ms) {
    for (int box = 0; box < BOXES; box++)
        pump->boxes[box].next_look_ms = now_ms;
}

static void log_shortage(const struct pump *pump, const boxcar_error *few) {
    store_log(pump_logger(pump), BOXCAR_LOG_WARN, "shortage", NULL, 0, "%s", few->message);
}

static void tune_crew(struct pump *pump) {
    boxcar_error few = BOXCAR_ERROR_INIT;
    crew_set_timeout(pump->crew, pump_tuning(pump)->handler_timeout_ms);
    if (crew_resize(pump->crew, (size_t)pump_tuning(pump)->concurrency, &few) != BOXCAR_OK)
        log_shortage(pump, &few);
}

static void apply_tuning(struct pump *pump, struct steward *steward) {
    if (!worker_take_pending(pump->worker))
        return;
    const struct tuning *tuning = pump_tuning(pump);
    if (tuning->log_level != KEEP_LOG_LEVEL) {
        pump_logger(pump)->log_level = tuning->log_level;
        pump->store->log_level = tuning->log_level;
    }
    atomic_store(&pump->worker->count.concurrency, tuning->concurrency);
    if (!pump->worker->crew)
        tune_crew(pump);
    steward_set_interval(steward, tuning->maintain_ms);
    for (struct job *job = pump->held; job; job = job->held_next)
        if (!job->refused)
            job->leased_at_ms = INT64_MIN / 2; /* renewed under the new terms, before the old ones end */
    pump_set_patience(pump);
    pump_set_strategy(pump);
    look_now(pump, pump->now_ms);
    pump->next_renewal_ms = pump->now_ms;
}

/* ---- work ---- */

static bool serves_any(const struct pump *pump) {
    return pump_serves(pump, BOXCAR_OUTBOX) || pump_serves(pump, BOXCAR_INBOX);
}

bool pump_may_claim(const struct pump *pump) {
    return !pump->stopping && !pump->waiting && !(pump->suspect && pump_runs_alone(pump->suspect)) &&
           !pump_is_refused(pump);
}

struct pace_view pump_pace_view(const struct pump *pump) {
    const struct tuning *tuning = pump_tuning(pump);
    return (struct pace_view){.concurrency = (size_t)tuning->concurrency,
                              .batch_size = (size_t)tuning->batch_size,
                              .batch_limit = (size_t)tuning->batch_limit,
                              .queued = pump->view.all.queued,
                              .behind = pump->view.all.behind,
                              .running = pump->view.all.running,
                              .elapsed_ms = pump->view.elapsed_ms,
                              .lease_ms = tuning->lease_ms};
}

int pump_claim_size(const struct pump *pump) {
    struct pace_view view = pump_pace_view(pump);
    return pump_may_claim(pump) ? (int)pace_claim_size(&pump->pace, &view) : 0;
}

/* A look costs little in a request that carries results anyway. A box that had nothing is still looked at
 * while the other box has a lot. */
static bool is_time_to_look(const struct pump *pump, int i) {
    const struct pump_box *box = &pump->boxes[i];
    if (!pump_serves(pump, i))
        return false;
    if (box->found || pump->now_ms >= box->next_look_ms)
        return true;
    return pump_has_found(pump) ? pump->now_ms - box->looked_at_ms >= BESIDE_MS : pump_flush_is_due(pump);
}

/* What to ask each box for. */
static void plan_claim(struct pump *pump, int ret_sizes[BOXES]) {
    bool asked[BOXES] = {is_time_to_look(pump, BOXCAR_OUTBOX), is_time_to_look(pump, BOXCAR_INBOX)};
    bool wants = (asked[BOXCAR_OUTBOX] || asked[BOXCAR_INBOX]) && pump_may_claim(pump);
    int size = pump_take_turn(pump, wants, pump_claim_size(pump));
    pace_share((size_t)size, asked, pump->turn, ret_sizes);
}

/* Whether there is a reason for a round trip: something to claim, to renew, or to flush. */
static bool plan_exchange(struct pump *pump, int ret_sizes[BOXES], bool *ret_renew) {
    *ret_renew = pump->held_count > 0 && pump->now_ms >= pump->next_renewal_ms;
    if (*ret_renew)
        pump->next_renewal_ms = pump->now_ms + pump_tuning(pump)->lease_ms / 6;
    plan_claim(pump, ret_sizes);
    return *ret_renew || ret_sizes[BOXCAR_OUTBOX] + ret_sizes[BOXCAR_INBOX] > 0 || pump_flush_is_due(pump);
}

/* A store that is away is asked again when its time comes, whatever there is to say: first about what is
 * held, then for more. Where it was claims that failed, both at once: the rest shows nothing. */
static bool exchange_detached(struct pump *pump) {
    if (pump->now_ms < pump->retry_at_ms || !pump_take_place(pump))
        return false;
    if (!serves_any(pump)) { /* nothing else to ask the store for */
        pump->next_waits_ms = pump->now_ms;
        (void)pump_evaluate_waits(pump);
        return true;
    }
    int sizes[BOXES] = {0};
    if (pump->held_count == 0 || pump->claims_fail)
        plan_claim(pump, sizes);
    if (!pump_exchange(pump, sizes, true))
        pump_beat(pump);
    return true;
}

/* Whether it did anything: then what comes next may have changed. */
static bool talk(struct pump *pump) {
    if (!pump_is_attached(pump))
        return exchange_detached(pump);
    if (pump_heartbeat_is_due(pump) && pump_beats_alone(pump))
        pump_beat(pump);
    if (!pump_is_attached(pump))
        return false;
    /* There may be waits to look for all the time; what is held must be renewed and settled all the same. */
    bool evaluated = pump_evaluate_waits(pump);
    if (!pump_is_attached(pump))
        return true;
    bool renew;
    int sizes[BOXES] = {0};
    if (plan_exchange(pump, sizes, &renew) && pump_exchange(pump, sizes, renew))
        return true;
    if (!pump_heartbeat_is_due(pump))
        return evaluated;
    pump_beat(pump); /* there was nothing else to say */
    return true;
}

/* ---- the end of a drain ---- */

static int64_t longest_backoff(const struct pump *pump) {
    const boxcar_backoff_policy *policy = pump_tuning(pump)->policy;
    int64_t longest = pump->backoff_cap_ms > DEFERRED_MS ? pump->backoff_cap_ms : DEFERRED_MS;
    if (policy && policy->curve.cap_ms > longest)
        longest = policy->curve.cap_ms;
    for (size_t i = 0; policy && i < policy->topic_count; i++)
        if (policy->topics[i].curve.cap_ms > longest)
            longest = policy->topics[i].curve.cap_ms;
    return longest;
}

/* Handlers of one box may feed the other: nothing is left in both. */
boxcar_status pump_is_drained(struct pump *pump, int64_t horizon_ms, bool *ret_drained, boxcar_error *err) {
    bool drained = true;
    TRY(pump_routes_are_drained(pump, horizon_ms, &drained, err)); /* copies are for handlers */
    for (int i = 0; drained && i < BOXES; i++) {
        const struct pump_box *box = &pump->boxes[i];
        boxcar_str wait_topic =
            box->reader == BOXCAR_OUTBOX ? boxcar_str_of(pump->wait_topic) : BOXCAR_NO_STR;
        if (pump_serves(pump, i))
            TRY(pump->store->ops->is_drained(pump->store, box->reader, box->patterns, box->pattern_count,
                                             wait_topic, horizon_ms, &drained, err));
    }
    *ret_drained = drained;
    return BOXCAR_OK;
}

static void end_if_drained(struct pump *pump) {
    if (!pump->worker->drain || pump->held_count > 0 || pump_has_found(pump) || !pump_is_attached(pump) ||
        pump->stopping)
        return;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_status status = pump_is_drained(pump, longest_backoff(pump), &pump->done, &err);
    if (status != BOXCAR_OK && pump_ends_with_subscription(pump, &err))
        return;
    if (status == BOXCAR_OK) {
        if (pump->done && pump_seat(pump))
            pump_seat(pump)->is_drained = true;
        return;
    }
    if (err.retryable) {
        pump_detach(pump, &err);
        return;
    }
    pump->done = true;
    pump->end_error = err;
}

/* ---- waiting ---- */

static int64_t earlier(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t next_event(const struct pump *pump, bool wants_work) {
    int64_t at =
        earlier(pump->now_ms + WATCH_MS, earlier(pump->view.next_check_ms, pump_next_stop_event(pump)));
    if (!pump_is_attached(pump))
        return earlier(at, pump->retry_at_ms);
    if (pump->held_count > 0)
        at = earlier(at, earlier(pump->next_renewal_ms, pump_next_flush_ms(pump)));
    if (pump_looks_after_waits(pump))
        at = earlier(at, pump->next_waits_ms);
    at = earlier(at, pump_next_routes_ms(pump));
    if (pump->waiting)
        at = earlier(at, pump->waiting_since_ms + pump->patience_ms);
    at = earlier(at, pump_next_turn_ms(pump));
    for (int box = 0; wants_work && box < BOXES; box++)
        if (pump_serves(pump, box))
            at = earlier(at, pump->boxes[box].next_look_ms);
    return at;
}

/* The store is told only about waits that are worth it. Getting up early without a reason of our own
 * means that it may have work. */
static void nap(struct pump *pump, int64_t ms, bool wants_work, bool for_routes) {
    struct nap how = {.owner = pump->worker->owner, .longest_ms = ms, .wake_fd = pump->worker->wake_fd};
    for (int box = 0; box < BOXES; box++) {
        how.boxes[box].reader = pump->boxes[box].reader;
        how.boxes[box].awaited = wants_work && pump_serves(pump, box);
        how.boxes[box].topics = pump->boxes[box].patterns;
        how.boxes[box].topic_count = pump->boxes[box].pattern_count;
    }
    if (for_routes)
        pump_add_routes(pump, &how);
    int64_t before = clock_ms();
    pump->store->ops->sleep(pump->store, &how);
    struct pollfd own = {.fd = pump->worker->wake_fd, .events = POLLIN};
    if (clock_ms() - before < ms && poll(&own, 1, 0) == 0) {
        look_now(pump, before);
        if (!pump_poke_routes(
                pump)) /* else it may not be for the handlers: then nothing is learned from it */
            pace_wake(&pump->pace);
    }
}

static void wait_for_event(struct pump *pump) {
    bool wants_work =
        pump_is_attached(pump) && serves_any(pump) && !pump->awaits_turn && pump_claim_size(pump) > 0;
    bool for_routes = pump_naps_for_routes(pump);
    int64_t now = clock_ms();
    int64_t ms = next_event(pump, wants_work) - now;
    if (ms <= 0 || !desk_begin_wait(pump->desk))
        return;
    int64_t deaf_ms = pump->looked_at_ms + pump->pace.deaf_ms - now;
    struct pollfd own = {.fd = pump->worker->wake_fd, .events = POLLIN};
    if ((wants_work || for_routes) && ms >= NAP_MIN_MS && deaf_ms <= 0)
        nap(pump, ms, wants_work, for_routes);
    else
        (void)poll(&own, 1, (int)(deaf_ms > 0 ? earlier(ms, deaf_ms) : ms));
    desk_end_wait(pump->desk);
}

/* ---- the loop ---- */

static void publish(struct pump *pump) {
    atomic_store(&pump->worker->turned_at_ms, pump->now_ms);
    atomic_store(&pump->worker->count.queued,
                 (int64_t)(pump->view.queued + pump->view.behind + (pump->waiting != NULL)));
    atomic_store(&pump->worker->count.running, (int64_t)pump->view.running);
    pump_report(pump);
}

static void turn(struct pump *pump, struct steward *steward) {
    pump->now_ms = clock_ms();
    apply_tuning(pump, steward);
    desk_look(pump->desk, &pump->view);
    publish(pump);
    pump_supervise(pump, false);
    pump_collect(pump);
    pump_drive_stop(pump);
    if (pump->done)
        return;
    pump_give_back(pump, false);
    pump_release_suspect(pump);
    pump_read_routes(pump);
    pump_note_finished(pump);
    desk_look(pump->desk, &pump->view);
    if (talk(pump))
        return;
    end_if_drained(pump);
    if (!pump->done)
        pump_rise_if_due(pump);
    if (!pump->done)
        wait_for_event(pump);
}

/* Takes the store's settings that the loop needs: the longest backoff, up to which a drain waits for retries,
 * the interval of heartbeats, and the topic of waits. */
static boxcar_status take_settings(struct pump *pump, const struct setting_value_list *list,
                                   boxcar_error *err) {
    const struct setting *cap = setting_find(BOXCAR_STR("backoff_cap"));
    boxcar_str wait_topic = BOXCAR_STR(WAIT_TOPIC_DEFAULT);
    double cap_ms = 60000;
    (void)setting_parse(cap, boxcar_str_of(cap->default_value), &cap_ms, NULL);
    for (size_t i = 0; i < list->count; i++) {
        const struct setting_value *value = &list->items[i];
        if (str_equal(value->name, BOXCAR_STR("backoff_cap")))
            cap_ms = value->number;
        if (str_equal(value->name, BOXCAR_STR("join_wait_topic")) && !str_is_empty(value->text))
            wait_topic = value->text;
    }
    pump->backoff_cap_ms = (int64_t)cap_ms;
    pump->heartbeat.interval_ms = presence_interval_ms(list);
    return pump_set_topics(pump, wait_topic, err);
}

static boxcar_status read_settings(struct pump *pump, boxcar_error *err) {
    struct setting_value_list list = {.arena = ARENA_INIT};
    TRY(pump->store->ops->settings_read(pump->store, &list, err));
    boxcar_status status = take_settings(pump, &list, err);
    arena_release(&list.arena);
    return status;
}

/* A worker with some of its threads works; it gets the others when the system has what they need. */
static boxcar_status hire(struct pump *pump, boxcar_error *err) {
    boxcar_error few = BOXCAR_ERROR_INIT;
    if (crew_resize(pump->crew, (size_t)pump_tuning(pump)->concurrency, &few) == BOXCAR_OK)
        return BOXCAR_OK;
    if (crew_threads(pump->crew) == 0) {
        if (err)
            *err = few;
        return few.status;
    }
    log_shortage(pump, &few);
    return BOXCAR_OK;
}

/* A store of a fleet is opened again and again: the log level may have changed since it was listed. */
static boxcar_store_options options_of(const struct boxcar_worker *worker) {
    boxcar_store_options options = worker->store;
    if (worker->seat && worker->tuning.log_level != KEEP_LOG_LEVEL)
        options.log_level = (boxcar_log_level)worker->tuning.log_level;
    return options;
}

/* A crew of its own, if it is not part of a fleet. */
static boxcar_status find_crew(struct pump *pump, const boxcar_store_options *options, boxcar_error *err) {
    struct boxcar_worker *worker = pump->worker;
    if (worker->crew)
        pump->crew = worker->crew;
    else
        TRY(crew_open(worker->handlers, &pump->crew, err));
    return desk_open(pump->crew, options, pump->store->id, worker->wake_fd, &pump->desk, err);
}

static boxcar_status pump_open(struct pump *pump, boxcar_error *err) {
    struct boxcar_worker *worker = pump->worker;
    set_state(pump, BOXCAR_WORKER_STARTING);
    boxcar_store_options options = options_of(worker);
    TRY(worker_open_store(worker, &options, &pump->store, err));
    TRY(pump_set_readers(pump, err));
    TRY(read_settings(pump, err));
    TRY(find_crew(pump, &options, err));
    TRY(desk_set_subscription(pump->desk, worker->subscription, err));
    if (!serves_any(pump) && !pump_seat(pump))
        store_log(pump_logger(pump), BOXCAR_LOG_INFO, "start", NULL, 0,
                  "no handlers: this worker evaluates waits for joins%s and does upkeep",
                  pump_forwards(pump) ? ", forwards, plans" : "");
    pump_set_patience(pump);
    pump_look_soon(pump);
    pump->found_at_ms = clock_ms();
    atomic_store(&worker->count.concurrency, worker->tuning.concurrency);
    if (worker->crew)
        return BOXCAR_OK;
    crew_set_timeout(pump->crew, worker->tuning.handler_timeout_ms);
    return hire(pump, err);
}

/* Messages that are still held stay leased until their leases expire. */
static void pump_close(struct pump *pump) {
    if (pump->desk) {
        struct job_list rest = {0};
        if (pump_is_attached(pump) && !pump->only_looks)
            (void)request_farewell(pump->store, pump->worker->owner, NULL);
        desk_take_back(pump->desk, true, &rest);
        desk_cancel(pump->desk, NULL, CANCEL_STOP);
        (void)desk_supervise(pump->desk, true);
    }
    pump_release_routes(pump);
    while (pump->held)
        pump_forget(pump, pump->held);
    desk_close(pump->desk);
    if (!pump->worker->crew)
        crew_close(pump->crew);
    for (int box = 0; box < BOXES; box++) {
        outbound_release(&pump->boxes[box].out);
        free(pump->boxes[box].patterns);
    }
    free(pump->wait_topic);
    if (pump->store)
        pump->store->ops->close(pump->store);
    atomic_store(&pump->worker->count.queued, 0);
    atomic_store(&pump->worker->count.running, 0);
    set_state(pump, BOXCAR_WORKER_STOPPED);
}

/* A fleet does the upkeep of its stores itself. */
static struct steward *start_steward(struct pump *pump) {
    struct steward *steward = steward_start(pump->worker, pump_logger(pump), pump_tuning(pump)->maintain_ms);
    if (!steward)
        store_log(pump_logger(pump), BOXCAR_LOG_WARN, "maintain", NULL, 0,
                  "no thread for upkeep could be started: run `boxcar maintain` separately");
    return steward;
}

boxcar_status pump_run(struct boxcar_worker *worker, boxcar_error *err) {
    int64_t now_ms = clock_ms();
    CLEANUP(pump_close)
    struct pump pump = {
        .worker = worker, .now_ms = now_ms, .next_renewal_ms = now_ms, .end_error = BOXCAR_ERROR_INIT};
    memcpy(&pump.random, worker->owner.uuid.bytes + 12, sizeof(pump.random));
    pump_set_strategy(&pump);
    pump_sit_down(&pump);
    atomic_store(&worker->turned_at_ms, now_ms);
    TRY(pump_open(&pump, err));
    struct steward *steward = worker->seat ? NULL : start_steward(&pump);
    set_state(&pump, BOXCAR_WORKER_RUNNING);
    while (!pump.done)
        turn(&pump, steward);
    if (!worker->seat)
        forwarding_end(worker->forwarding);
    steward_stop(steward);
    if (pump.end_error.status != BOXCAR_OK && err)
        *err = pump.end_error;
    return pump.end_error.status;
}
