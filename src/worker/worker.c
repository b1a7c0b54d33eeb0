#include "worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "core/limits/limits.h"
#include "core/wait.h"
#include "store/open.h"

/* ---- a policy of its own ---- */

static void policy_free(boxcar_backoff_policy *policy) {
    if (!policy)
        return;
    for (size_t i = 0; i < policy->topic_count; i++)
        free((void *)(uintptr_t)policy->topics[i].topic.data);
    free((void *)(uintptr_t)policy->topics);
    free(policy);
}

static bool copy_topics(boxcar_backoff_policy *into, const boxcar_backoff_policy *from) {
    boxcar_backoff_topic *topics = calloc(from->topic_count ? from->topic_count : 1, sizeof(*topics));

    into->topics = topics;
    into->topic_count = 0;
    if (!topics)
        return false;
    for (size_t i = 0; i < from->topic_count; i++) {
        char *text = memory_copy_text(from->topics[i].topic);

        if (!text)
            return false;
        topics[i].curve = from->topics[i].curve;
        topics[i].topic = (boxcar_str){text, from->topics[i].topic.len};
        into->topic_count++;
    }
    return true;
}

static boxcar_status check_topics(const boxcar_backoff_policy *policy, boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    if (policy->topic_count > 0 && !policy->topics)
        return error_invalid(err, "backoff.topics", "backoff.topics is NULL: topic_count says otherwise");
    for (size_t i = 0; status == BOXCAR_OK && i < policy->topic_count; i++)
        status = limits_check_topic_pattern(policy->topics[i].topic, "backoff.topics", err);
    return status;
}

static boxcar_status policy_copy(const boxcar_backoff_policy *given, boxcar_backoff_policy **ret_policy,
                                 boxcar_error *err) {
    boxcar_backoff_policy whole = BOXCAR_BACKOFF_POLICY_INIT;
    boxcar_backoff_policy *copy;
    boxcar_status status = options_read(&whole, sizeof(whole), given, "backoff", err);

    if (status == BOXCAR_OK)
        status = check_topics(&whole, err);
    if (status != BOXCAR_OK)
        return status;
    copy = malloc(sizeof(*copy));
    if (!copy)
        return error_no_memory(err);
    *copy = whole;
    copy->struct_size = sizeof(*copy);
    if (!copy_topics(copy, &whole)) {
        policy_free(copy);
        return error_no_memory(err);
    }
    *ret_policy = copy;
    return BOXCAR_OK;
}

/* ---- what may change ---- */

static boxcar_status check_range(const char *argument, int64_t value, int64_t min, int64_t max,
                                 boxcar_error *err) {
    if (value >= min && value <= max)
        return BOXCAR_OK;
    return error_invalid(err, argument, "%s is %lld: give %lld to %lld", argument, (long long)value,
                         (long long)min, (long long)max);
}

static boxcar_status check_strategy(const boxcar_worker_options *options, boxcar_error *err) {
    boxcar_status status =
        check_range("flush_interval_ms", options->flush_interval_ms, 1, BOXCAR_FLUSH_INTERVAL_MS_MAX, err);

    if (status == BOXCAR_OK)
        status = check_range("flush_size", options->flush_size, 1, BOXCAR_FLUSH_SIZE_MAX, err);
    if (status != BOXCAR_OK)
        return status;
    if (options->strategy == BOXCAR_STRATEGY_SCOPED || (unsigned)options->strategy > BOXCAR_STRATEGY_SIZE)
        return error_invalid(err, "strategy",
                             "workers do not support this strategy: give immediate, interval or size");
    return BOXCAR_OK;
}

static boxcar_status check_options(const boxcar_worker_options *options, boxcar_error *err) {
    boxcar_status status = check_range("concurrency", options->concurrency, 1, BOXCAR_CONCURRENCY_MAX, err);

    if (status == BOXCAR_OK)
        status = limits_check_batch_size(options->batch_size, err);
    if (status == BOXCAR_OK)
        status = check_range("batch_limit", options->batch_limit, 1, BOXCAR_BATCH_SIZE_MAX, err);
    if (status == BOXCAR_OK)
        status = limits_check_batch_bytes(options->batch_bytes, "batch_bytes", err);
    if (status == BOXCAR_OK)
        status = limits_check_lease_ms(options->lease_ms, err);
    if (status == BOXCAR_OK)
        status = check_range("poll_ms", options->poll_ms, BOXCAR_POLL_MS_MIN, BOXCAR_POLL_MS_MAX, err);
    if (status == BOXCAR_OK)
        status = check_range("handler_timeout_ms", options->handler_timeout_ms, 0,
                             BOXCAR_HANDLER_TIMEOUT_MS_MAX, err);
    if (status == BOXCAR_OK)
        status = check_range("grace_ms", options->grace_ms, 0, BOXCAR_GRACE_MS_MAX, err);
    if (status == BOXCAR_OK)
        status = check_range("maintain_ms", options->maintain_ms, 0, BOXCAR_MAINTAIN_MS_MAX, err);
    return status == BOXCAR_OK ? check_strategy(options, err) : status;
}

void tuning_release(struct tuning *tuning) {
    policy_free(tuning->policy);
    tuning->policy = NULL;
}

/* Checks the caller's options and takes what may change from them. */
static boxcar_status tuning_read(const boxcar_worker_options *given, boxcar_worker_options *ret_options,
                                 struct tuning *ret_tuning, boxcar_error *err) {
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    boxcar_store_options store = BOXCAR_STORE_OPTIONS_INIT;
    struct tuning tuning;
    boxcar_status status = options_read(&options, sizeof(options), given, "options", err);

    if (status == BOXCAR_OK)
        status = check_options(&options, err);
    if (status != BOXCAR_OK)
        return status;
    tuning = (struct tuning){.concurrency = options.concurrency,
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
                             .flush_size = options.flush_size};
    if (options.store)
        status = options_read(&store, sizeof(store), options.store, "store", err);
    tuning.log_level = options.store ? (int)store.log_level : KEEP_LOG_LEVEL;
    if (status == BOXCAR_OK && options.backoff)
        status = policy_copy(options.backoff, &tuning.policy, err);
    if (status != BOXCAR_OK)
        return status;
    *ret_tuning = tuning;
    *ret_options = options;
    return BOXCAR_OK;
}

/* ---- the worker ---- */

static boxcar_status copy_store(struct boxcar_worker *worker, const boxcar_store_options *given,
                                boxcar_error *err) {
    boxcar_status status;

    if (!given)
        return error_invalid(err, "store", "store is NULL: say where to work");
    status = store_options_read(given, &worker->store, err);
    if (status == BOXCAR_OK)
        status = store_check_url(worker->store.url, err);
    if (status != BOXCAR_OK)
        return status;
    worker->url = memory_copy_text(worker->store.url);
    worker->schema = memory_copy_text(worker->store.schema);
    if ((!worker->url && worker->store.url.data) || !worker->schema)
        return error_no_memory(err);
    worker->store.struct_size = sizeof(worker->store);
    worker->store.url = boxcar_str_of(worker->url);
    worker->store.schema = boxcar_str_of(worker->schema);
    return BOXCAR_OK;
}

boxcar_status worker_new(const boxcar_worker_options *given, struct boxcar_worker **ret_worker,
                         boxcar_error *err) {
    struct boxcar_worker *worker = calloc(1, sizeof(*worker));
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    boxcar_status status;

    if (!worker)
        return error_no_memory(err);
    worker->handlers = handler_table_new();
    worker->wait_handler.topic = (char *)(uintptr_t)WAIT_TOPIC_DEFAULT;
    worker->wait_handler.topic_len = sizeof(WAIT_TOPIC_DEFAULT) - 1;
    pthread_mutex_init(&worker->mutex, NULL);
    worker->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!worker->handlers)
        status = error_no_memory(err);
    else if (worker->wake_fd < 0)
        status = error_set(err, BOXCAR_E_UNAVAILABLE, "cannot make an event descriptor: %s", strerror(errno));
    else
        status = tuning_read(given, &options, &worker->tuning, err);
    if (status == BOXCAR_OK)
        status = copy_store(worker, options.store, err);
    worker->owner =
        boxcar_uuid_is_none(options.owner.uuid) ? (boxcar_owner){boxcar_uuid_new()} : options.owner;
    worker->drain = options.drain;
    worker->open = store_open;
    if (status == BOXCAR_OK)
        status = limits_check_owner(worker->owner, err);
    if (status != BOXCAR_OK) {
        worker_free(worker);
        return status;
    }
    *ret_worker = worker;
    return BOXCAR_OK;
}

void worker_free(struct boxcar_worker *worker) {
    if (!worker)
        return;
    handler_table_release(worker->handlers);
    tuning_release(&worker->tuning);
    if (worker->pending)
        tuning_release(worker->pending);
    free(worker->pending);
    if (worker->wake_fd >= 0)
        close(worker->wake_fd);
    pthread_mutex_destroy(&worker->mutex);
    free(worker->url);
    free(worker->schema);
    free(worker);
}

boxcar_status worker_reconfigure(struct boxcar_worker *worker, const boxcar_worker_options *given,
                                 boxcar_error *err) {
    struct tuning *tuning = calloc(1, sizeof(*tuning));
    struct tuning *replaced;
    boxcar_worker_options options;
    boxcar_status status;
    uint64_t one = 1;

    if (!tuning)
        return error_no_memory(err);
    status = tuning_read(given, &options, tuning, err);
    if (status != BOXCAR_OK) {
        free(tuning);
        return status;
    }
    pthread_mutex_lock(&worker->mutex);
    replaced = worker->pending;
    worker->pending = tuning;
    pthread_mutex_unlock(&worker->mutex);
    if (replaced)
        tuning_release(replaced);
    free(replaced);
    (void)!write(worker->wake_fd, &one, sizeof(one));
    return BOXCAR_OK;
}

bool worker_take_pending(struct boxcar_worker *worker, struct tuning *ret_tuning) {
    struct tuning *tuning;

    pthread_mutex_lock(&worker->mutex);
    tuning = worker->pending;
    worker->pending = NULL;
    pthread_mutex_unlock(&worker->mutex);
    if (!tuning)
        return false;
    *ret_tuning = *tuning;
    free(tuning);
    return true;
}

/* ---- stopping ---- */

void worker_stop(struct boxcar_worker *worker) {
    uint64_t one = 1;
    int64_t never = 0;

    atomic_compare_exchange_strong(&worker->stop_asked_ms, &never, clock_ms());
    atomic_fetch_add(&worker->stop_requests, 1);
    (void)!write(worker->wake_fd, &one, sizeof(one));
}
