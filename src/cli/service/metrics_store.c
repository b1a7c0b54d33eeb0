#include "metrics_store.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The numbers are cheap, not free. */
#define INTERVAL_MS 5000
/* How long a reading may wait for other writers or for a connection. */
#define PATIENCE_MS 2000
#define ANSWER_MS 5000 /* counting in a large store takes a while */
/* How long stopping waits for a reading that is under way. */
#define FAREWELL_MS 1000
/* Where counting halted streams stops. */
#define HALTED_MAX 1000

struct metrics_store {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Own copies: the thread may outlive its starter. */
    char *url, *schema;
    boxcar_owner owner;

    /* Under the lock. */
    const struct log_writer *log;
    bool stopping, ended;
    bool abandoned; /* nobody waits for the thread: it frees this */
    bool known, failing;
    boxcar_stats stats[2]; /* by box */
    struct metrics_streams streams;
    struct timespec read_at;
};

static struct timespec now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time;
}

static struct timespec after(struct timespec time, int64_t ms) {
    time.tv_sec += (time_t)(ms / 1000);
    time.tv_nsec += (long)(ms % 1000) * 1000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_sec++;
        time.tv_nsec -= 1000000000;
    }
    return time;
}

static void release(struct metrics_store *store) {
    pthread_cond_destroy(&store->changed);
    pthread_mutex_destroy(&store->lock);
    free(store->url);
    free(store->schema);
    free(store);
}

/* Logged once when it begins: the worker logs more about a store that is gone. */
static void report(const struct metrics_store *store, const boxcar_error *err) {
    const boxcar_log_field field = {"error", boxcar_str_of(err->message)};
    const boxcar_log_record record = {.level = BOXCAR_LOG_WARN,
                                      .event = "metrics",
                                      .text = "the store's numbers cannot be read",
                                      .fields = &field,
                                      .field_count = 1};
    log_writer_write((void *)store->log, &record);
}

static boxcar_status read_box(boxcar_store *connection, boxcar_box box, boxcar_stats *ret_stats,
                              boxcar_error *err) {
    boxcar_stats_list *list = NULL;
    boxcar_status status = boxcar_stats_read(connection, box, false, &list, err);
    if (status == BOXCAR_OK) {
        *ret_stats = *list->items[0];
        ret_stats->topic = (boxcar_str){0};
    }
    boxcar_list_free(list);
    return status;
}

static boxcar_status read_stats(const struct metrics_store *store, boxcar_store **connection,
                                boxcar_stats ret_stats[2], boxcar_error *err) {
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    options.url = boxcar_str_of(store->url);
    options.schema = boxcar_str_of(store->schema);
    options.busy_timeout_ms = PATIENCE_MS;
    options.answer_timeout_ms = ANSWER_MS;
    boxcar_status status = *connection ? BOXCAR_OK : boxcar_store_open(&options, connection, err);
    for (int box = BOXCAR_OUTBOX; status == BOXCAR_OK && box <= BOXCAR_INBOX; box++)
        status = read_box(*connection, (boxcar_box)box, &ret_stats[box], err);
    return status;
}

/* A worker that serves both boxes is listed for each. */
static bool is_listed_before(const boxcar_instance_list *list, size_t index) {
    const boxcar_owner *owner = &list->items[index]->owner;
    for (size_t i = 0; i < index; i++)
        if (memcmp(&list->items[i]->owner, owner, sizeof(*owner)) == 0)
            return true;
    return false;
}

/* The database's clock is as far as the newest heartbeat at least: workers' own may be wrong. */
static void summarize(const boxcar_instance_list *list, boxcar_owner owner, struct metrics_streams *streams) {
    boxcar_time newest = BOXCAR_TIME_NONE, oldest_lease = BOXCAR_TIME_NONE;
    for (size_t i = 0; i < list->count; i++) {
        const boxcar_instance *instance = list->items[i];
        boxcar_time lease = instance->oldest_lease_at;
        streams->instances += !is_listed_before(list, i);
        if (boxcar_instance_is(instance, owner))
            streams->partitions[instance->box] = instance->partition_count;
        if (instance->seen_at > newest)
            newest = instance->seen_at;
        if (lease != BOXCAR_TIME_NONE && (oldest_lease == BOXCAR_TIME_NONE || lease < oldest_lease))
            oldest_lease = lease;
    }
    if (oldest_lease != BOXCAR_TIME_NONE && newest > oldest_lease)
        streams->oldest_lease_seconds = (double)(newest - oldest_lease) / 1e6;
}

static boxcar_status count_halted(boxcar_store *connection, boxcar_box box, int64_t *ret_count,
                                  boxcar_error *err) {
    boxcar_stream_filter filter = BOXCAR_STREAM_FILTER_INIT;
    boxcar_stream_list *list = NULL;
    filter.box = box;
    filter.halted = true;
    filter.limit = HALTED_MAX;
    boxcar_status status = boxcar_stream_page(connection, &filter, &list, err);
    if (status == BOXCAR_OK)
        *ret_count = (int64_t)list->count;
    boxcar_list_free(list);
    return status;
}

static boxcar_status read_upkeep(boxcar_store *connection, double *ret_age_seconds, boxcar_error *err) {
    boxcar_upkeep upkeep = BOXCAR_UPKEEP_INIT;
    boxcar_status status = boxcar_upkeep_read(connection, &upkeep, err);
    if (status == BOXCAR_OK)
        *ret_age_seconds = upkeep.seconds;
    return status;
}

static boxcar_status read_streams(boxcar_store *connection, boxcar_owner owner,
                                  struct metrics_streams *ret_streams, boxcar_error *err) {
    struct metrics_streams streams = {0};
    boxcar_instance_list *instances = NULL;
    boxcar_status status = boxcar_instance_read(connection, &instances, err);
    for (int box = BOXCAR_OUTBOX; status == BOXCAR_OK && box <= BOXCAR_INBOX; box++)
        status = count_halted(connection, (boxcar_box)box, &streams.halted[box], err);
    if (status == BOXCAR_OK)
        status = boxcar_stream_violation_count(connection, &streams.violations, err);
    if (status == BOXCAR_OK)
        status = read_upkeep(connection, &streams.upkeep_age_seconds, err);
    if (status == BOXCAR_OK) {
        summarize(instances, owner, &streams);
        *ret_streams = streams;
    }
    boxcar_list_free(instances);
    return status;
}

/* One reading, outside the lock, and what came of it. A connection that failed is not kept: it may be
 * to a server that has moved. */
static void look(struct metrics_store *store, boxcar_store **connection) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_stats stats[2];
    struct metrics_streams streams = {0};
    pthread_mutex_unlock(&store->lock);
    boxcar_status status = read_stats(store, connection, stats, &err);
    if (status == BOXCAR_OK)
        status = read_streams(*connection, store->owner, &streams, &err);
    if (status != BOXCAR_OK) {
        boxcar_store_close(*connection);
        *connection = NULL;
    }
    pthread_mutex_lock(&store->lock);
    if (status == BOXCAR_OK) {
        memcpy(store->stats, stats, sizeof(stats));
        store->streams = streams;
        store->known = true;
        store->read_at = now();
    } else if (!store->failing && !store->stopping) {
        report(store, &err);
    }
    store->failing = status != BOXCAR_OK;
}

static void *read_again_and_again(void *context) {
    struct metrics_store *store = context;
    boxcar_store *connection = NULL;
    pthread_mutex_lock(&store->lock);
    while (!store->stopping) {
        struct timespec next = after(now(), INTERVAL_MS);
        look(store, &connection);
        while (!store->stopping && pthread_cond_timedwait(&store->changed, &store->lock, &next) != ETIMEDOUT)
            ;
    }
    pthread_mutex_unlock(&store->lock);
    boxcar_store_close(connection);
    pthread_mutex_lock(&store->lock);
    bool abandoned = store->abandoned;
    store->ended = true;
    pthread_cond_broadcast(&store->changed);
    pthread_mutex_unlock(&store->lock);
    if (abandoned)
        release(store);
    return NULL;
}

static bool init(struct metrics_store *store, struct cli *cli) {
    pthread_condattr_t monotonic;
    if (pthread_mutex_init(&store->lock, NULL) != 0)
        return false;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    int failed = pthread_cond_init(&store->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (failed) {
        pthread_mutex_destroy(&store->lock);
        return false;
    }
    store->log = &cli->log;
    store->url = strdup(cli->store_url);
    store->schema = cli->schema ? strdup(cli->schema) : NULL;
    return true;
}

struct metrics_store *metrics_store_start(struct cli *cli, boxcar_owner owner) {
    struct metrics_store *store = calloc(1, sizeof(*store));
    if (!store || !init(store, cli)) {
        free(store);
        return NULL;
    }
    store->owner = owner;
    if (!store->url || (cli->schema && !store->schema) ||
        pthread_create(&store->thread, NULL, read_again_and_again, store) != 0) {
        release(store);
        return NULL;
    }
    return store;
}

bool metrics_store_read(struct metrics_store *store, boxcar_stats ret_stats[2],
                        struct metrics_streams *ret_streams, double *ret_age_seconds) {
    struct timespec time = now();
    pthread_mutex_lock(&store->lock);
    bool known = store->known;
    if (known) {
        double age = (double)(time.tv_sec - store->read_at.tv_sec) +
                     (double)(time.tv_nsec - store->read_at.tv_nsec) / 1e9;
        *ret_age_seconds = age > 0 ? age : 0;
        memcpy(ret_stats, store->stats, sizeof(store->stats));
        *ret_streams = store->streams;
    }
    pthread_mutex_unlock(&store->lock);
    return known;
}

void metrics_store_stop(struct metrics_store *store) {
    if (!store)
        return;
    struct timespec deadline = after(now(), FAREWELL_MS);
    pthread_t thread = store->thread;
    pthread_mutex_lock(&store->lock);
    store->stopping = true;
    pthread_cond_broadcast(&store->changed);
    while (!store->ended && pthread_cond_timedwait(&store->changed, &store->lock, &deadline) != ETIMEDOUT)
        ;
    store->abandoned = !store->ended;
    bool abandoned = store->abandoned;
    pthread_mutex_unlock(&store->lock);
    if (abandoned) {
        pthread_detach(thread);
        return;
    }
    pthread_join(thread, NULL);
    release(store);
}
