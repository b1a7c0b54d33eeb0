#include "worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/options.h"
#include "base/thread.h"
#include "base/utf8.h"
#include "core/limits/limits.h"
#include "core/wait.h"
#include "store/open.h"

/* ---- what may change ---- */

static boxcar_status check_range(const char *argument, int64_t value, int64_t min, int64_t max,
                                 boxcar_error *err) {
    if (value >= min && value <= max)
        return BOXCAR_OK;
    return error_invalid(err, argument, "%s is %lld: give %lld to %lld", argument, (long long)value,
                         (long long)min, (long long)max);
}

static boxcar_status check_options(const boxcar_worker_options *options, boxcar_error *err) {
    TRY(check_range("concurrency", options->concurrency, 1, BOXCAR_CONCURRENCY_MAX, err));
    TRY(limits_check_batch_size(options->batch_size, err));
    TRY(check_range("batch_limit", options->batch_limit, 1, BOXCAR_BATCH_SIZE_MAX, err));
    TRY(limits_check_batch_bytes(options->batch_bytes, "batch_bytes", err));
    TRY(limits_check_lease_ms(options->lease_ms, err));
    TRY(check_range("poll_ms", options->poll_ms, BOXCAR_POLL_MS_MIN, BOXCAR_POLL_MS_MAX, err));
    TRY(check_range("handler_timeout_ms", options->handler_timeout_ms, 0, BOXCAR_HANDLER_TIMEOUT_MS_MAX,
                    err));
    TRY(check_range("grace_ms", options->grace_ms, 0, BOXCAR_GRACE_MS_MAX, err));
    TRY(check_range("maintain_ms", options->maintain_ms, 0, BOXCAR_MAINTAIN_MS_MAX, err));
    TRY(check_range("flush_interval_ms", options->flush_interval_ms, 1, BOXCAR_FLUSH_INTERVAL_MS_MAX, err));
    TRY(check_range("flush_size", options->flush_size, 1, BOXCAR_FLUSH_SIZE_MAX, err));
    if (options->strategy == BOXCAR_STRATEGY_SCOPED || (unsigned)options->strategy > BOXCAR_STRATEGY_SIZE)
        return error_invalid(err, "strategy",
                             "workers do not support this strategy: give immediate, interval or size");
    return BOXCAR_OK;
}

static boxcar_status copy_topics(struct arena *arena, boxcar_backoff_policy *policy, boxcar_error *err) {
    if (policy->topic_count > 0 && !policy->topics)
        return error_invalid(err, "backoff.topics", "backoff.topics is NULL: topic_count says otherwise");
    boxcar_backoff_topic *topics = arena_alloc_array(arena, policy->topic_count, sizeof(*topics));
    if (!topics)
        return error_no_memory(err);
    for (size_t i = 0; i < policy->topic_count; i++) {
        topics[i].curve = policy->topics[i].curve;
        TRY(limits_check_topic_pattern(policy->topics[i].topic, "backoff.topics", err));
        if (!arena_copy_str(arena, policy->topics[i].topic, &topics[i].topic))
            return error_no_memory(err);
    }
    policy->topics = topics;
    return BOXCAR_OK;
}

static boxcar_status copy_policy(const boxcar_backoff_policy *given, struct tuning *tuning,
                                 boxcar_error *err) {
    boxcar_backoff_policy *policy = arena_alloc(&tuning->arena, sizeof(*policy));
    if (!policy)
        return error_no_memory(err);
    *policy = BOXCAR_BACKOFF_POLICY_INIT;
    TRY(options_read(policy, sizeof(*policy), given, "backoff", err));
    TRY(copy_topics(&tuning->arena, policy, err));
    tuning->policy = policy;
    return BOXCAR_OK;
}

/* Checks the caller's options and takes what may change from them. The tuning is to be released also when
 * this fails. */
static boxcar_status tuning_read(const boxcar_worker_options *given, boxcar_worker_options *ret_options,
                                 struct tuning *tuning, boxcar_error *err) {
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    TRY(options_read(&options, sizeof(options), given, "options", err));
    TRY(check_options(&options, err));
    *tuning = (struct tuning){.concurrency = options.concurrency,
                              .batch_size = options.batch_size,
                              .batch_limit = options.batch_limit,
                              .batch_bytes = options.batch_bytes,
                              .lease_ms = options.lease_ms,
                              .poll_ms = options.poll_ms,
                              .handler_timeout_ms = options.handler_timeout_ms,
                              .grace_ms = options.grace_ms,
                              .maintain_ms = options.maintain_ms,
                              .fail_unhandled = options.fail_unhandled,
                              .strategy = options.strategy,
                              .flush_interval_ms = options.flush_interval_ms,
                              .flush_size = options.flush_size,
                              .log_level = KEEP_LOG_LEVEL};
    if (options.store) {
        boxcar_store_options store = BOXCAR_STORE_OPTIONS_INIT;
        TRY(options_read(&store, sizeof(store), options.store, "store", err));
        tuning->log_level = (int)store.log_level;
    }
    if (options.backoff)
        TRY(copy_policy(options.backoff, tuning, err));
    *ret_options = options;
    return BOXCAR_OK;
}

boxcar_status tuning_copy(const struct tuning *tuning, struct tuning **ret_copy, boxcar_error *err) {
    struct tuning *copy = malloc(sizeof(*copy));
    if (!copy)
        return error_no_memory(err);
    *copy = *tuning;
    copy->arena = ARENA_INIT;
    copy->policy = NULL;
    boxcar_status status = tuning->policy ? copy_policy(tuning->policy, copy, err) : BOXCAR_OK;
    if (status == BOXCAR_OK)
        *ret_copy = copy;
    else
        tuning_free(copy);
    return status;
}

void tuning_free(struct tuning *tuning) {
    if (!tuning)
        return;
    arena_release(&tuning->arena);
    free(tuning);
}

/* ---- the worker ---- */

static boxcar_status copy_store(struct boxcar_worker *worker, const boxcar_store_options *given,
                                bool has_fleet, boxcar_error *err) {
    boxcar_store_options *store = &worker->store;
    if (!given)
        return error_invalid(err, "store", "store is NULL: say where to work");
    TRY(store_options_read(given, store, err));
    if (!has_fleet)
        TRY(store_check_url(store->url, err));
    store->struct_size = sizeof(*store);
    return arena_copy_str(&worker->arena, store->url, &store->url) &&
                   arena_copy_str(&worker->arena, store->schema, &store->schema)
               ? BOXCAR_OK
               : error_no_memory(err);
}

static boxcar_status copy_subscription(struct boxcar_worker *worker, boxcar_str name, boxcar_error *err) {
    if (str_is_absent(name))
        return BOXCAR_OK;
    TRY(limits_check_subscription_name(name, "subscription", err));
    return arena_copy_str(&worker->arena, name, &worker->subscription) ? BOXCAR_OK : error_no_memory(err);
}

static boxcar_status init(struct boxcar_worker *worker, const boxcar_worker_options *given,
                          boxcar_error *err) {
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    worker->open = store_open;
    worker->own_wait_handler.topic = BOXCAR_STR(WAIT_TOPIC_DEFAULT);
    worker->wait_handler = &worker->own_wait_handler;
    pthread_mutex_init(&worker->mutex, NULL);
    worker->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (worker->wake_fd < 0)
        return error_set(err, BOXCAR_E_UNAVAILABLE, "cannot make an event descriptor: %s", strerror(errno));
    worker->handlers = handler_table_new();
    if (!worker->handlers)
        return error_no_memory(err);
    TRY(tuning_read(given, &options, &worker->tuning, err));
    TRY(copy_store(worker, options.store, options.fleet != NULL, err));
    TRY(copy_subscription(worker, options.subscription, err));
    worker->drain = options.drain;
    worker->owner =
        boxcar_uuid_is_none(options.owner.uuid) ? (boxcar_owner){boxcar_uuid_new()} : options.owner;
    return limits_check_owner(worker->owner, err);
}

boxcar_status worker_new(const boxcar_worker_options *given, struct boxcar_worker **ret_worker,
                         boxcar_error *err) {
    struct boxcar_worker *worker = calloc(1, sizeof(*worker));
    boxcar_status status = worker ? init(worker, given, err) : error_no_memory(err);
    if (status == BOXCAR_OK)
        *ret_worker = worker;
    else
        worker_free(worker);
    return status;
}

void worker_free(struct boxcar_worker *worker) {
    if (!worker)
        return;
    handler_table_release(worker->handlers);
    arena_release(&worker->tuning.arena);
    tuning_free(worker->pending);
    if (worker->wake_fd >= 0)
        close(worker->wake_fd);
    pthread_mutex_destroy(&worker->mutex);
    arena_release(&worker->arena);
    free(worker);
}

void worker_part_init(struct boxcar_worker *part, const struct boxcar_worker *whole) {
    pthread_mutex_init(&part->mutex, NULL);
    handler_table_retain(whole->handlers);
    part->handlers = whole->handlers;
    part->wait_handler = whole->wait_handler;
    part->open = whole->open;
    part->forwarding = whole->forwarding;
    part->owner = whole->owner;
    part->drain = whole->drain;
    part->subscription = whole->subscription;
    part->wake_fd = -1;
}

void worker_part_release(struct boxcar_worker *part) {
    handler_table_release(part->handlers);
    arena_release(&part->tuning.arena);
    tuning_free(part->pending);
    pthread_mutex_destroy(&part->mutex);
}

static int64_t shorter(int64_t ms, int64_t most_ms) { return ms > 0 && ms < most_ms ? ms : most_ms; }

boxcar_status worker_open_store(struct boxcar_worker *worker, const boxcar_store_options *given,
                                struct boxcar_store **ret_store, boxcar_error *err) {
    boxcar_store_options options = *given;
    if (worker->patience_ms > 0) {
        options.busy_timeout_ms = shorter(options.busy_timeout_ms, worker->patience_ms);
        options.answer_timeout_ms = shorter(options.answer_timeout_ms, worker->patience_ms);
    }
    return worker->open(&options, ret_store, err);
}

void worker_wake(const struct boxcar_worker *worker) {
    uint64_t one = 1;
    (void)!write(worker->wake_fd, &one, sizeof(one));
}

struct tuning *worker_swap_pending(struct boxcar_worker *worker, struct tuning *tuning) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&worker->mutex);
    struct tuning *before = worker->pending;
    worker->pending = tuning;
    return before;
}

boxcar_status worker_reconfigure(struct boxcar_worker *worker, const boxcar_worker_options *given,
                                 boxcar_error *err) {
    struct tuning *tuning = calloc(1, sizeof(*tuning));
    boxcar_worker_options options;
    boxcar_status status = tuning ? tuning_read(given, &options, tuning, err) : error_no_memory(err);
    if (status == BOXCAR_OK)
        tuning = worker_swap_pending(worker, tuning);
    tuning_free(tuning);
    if (status == BOXCAR_OK)
        worker_wake(worker);
    return status;
}

bool worker_take_pending(struct boxcar_worker *worker) {
    struct tuning *tuning = worker_swap_pending(worker, NULL);
    if (!tuning)
        return false;
    arena_release(&worker->tuning.arena);
    worker->tuning = *tuning;
    free(tuning);
    return true;
}

void worker_stop(struct boxcar_worker *worker) {
    int64_t never = 0;
    atomic_compare_exchange_strong(&worker->stop_asked_ms, &never, clock_ms());
    atomic_fetch_add(&worker->stop_requests, 1);
    worker_wake(worker);
}
