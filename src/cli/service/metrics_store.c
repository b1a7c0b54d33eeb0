#include "metrics_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"

/* The numbers are cheap, not free. */
#define INTERVAL_US 5000000
/* How long a reading may wait for other writers or for a connection. */
#define PATIENCE_MS 2000
#define ANSWER_MS 5000 /* counting in a large store takes a while */
/* How long stopping waits for a reading that is under way. */
#define FAREWELL_US 1000000
/* Where counting halted streams stops. */
#define HALTED_MAX 1000

struct metrics_store {
    pthread_t thread;
    struct monitor monitor;
    /* Own copies: the thread may outlive its starter. */
    char *url, *schema;
    boxcar_owner owner;

    /* Under the monitor's lock. */
    const struct log_writer *log;
    bool stopping, ended;
    bool abandoned; /* nobody waits for the thread: it frees this */
    bool known, failing;
    struct metrics_reading reading;
    int64_t read_at_us;
};

static void list_free(void *list) { boxcar_list_free(*(void **)list); }

static void release(struct metrics_store *store) {
    monitor_destroy(&store->monitor);
    free(store->reading.subscriptions);
    free(store->url);
    free(store->schema);
    free(store);
}

static boxcar_status read_box(boxcar_store *connection, boxcar_box box, boxcar_stats *ret_stats,
                              boxcar_error *err) {
    CLEANUP(list_free) boxcar_stats_list *list = NULL;
    TRY(boxcar_stats_read(connection, box, false, &list, err));
    *ret_stats = *list->items[0];
    ret_stats->topic = BOXCAR_NO_STR;
    return BOXCAR_OK;
}

static boxcar_status connect_to(const struct metrics_store *store, boxcar_store **ret_connection,
                                boxcar_error *err) {
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    options.url = boxcar_str_of(store->url);
    options.schema = boxcar_str_of(store->schema);
    options.busy_timeout_ms = PATIENCE_MS;
    options.answer_timeout_ms = ANSWER_MS;
    return boxcar_store_open(&options, ret_connection, err);
}

/* A worker that serves both boxes is listed for each. */
static bool is_listed_before(const boxcar_instance_list *list, size_t index) {
    const boxcar_owner *owner = &list->items[index]->owner;
    for (size_t i = 0; i < index; i++)
        if (memcmp(&list->items[i]->owner, owner, sizeof(*owner)) == 0)
            return true;
    return false;
}

/* The box of a main reader or of a subscription; -1 = that was removed just now. */
static int box_of(const boxcar_subscription_list *subscriptions, boxcar_box reader) {
    if (reader <= BOXCAR_INBOX)
        return reader;
    for (size_t i = 0; i < subscriptions->count; i++)
        if (subscriptions->items[i]->reader == reader)
            return subscriptions->items[i]->box;
    return -1;
}

/* The database's clock is as far as the newest heartbeat at least: workers' own may be wrong. */
static void summarize(const boxcar_instance_list *list, const boxcar_subscription_list *subscriptions,
                      boxcar_owner owner, struct metrics_streams *streams) {
    boxcar_time newest = BOXCAR_TIME_NONE, oldest_lease = BOXCAR_TIME_NONE;
    for (size_t i = 0; i < list->count; i++) {
        const boxcar_instance *instance = list->items[i];
        boxcar_time lease = instance->oldest_lease_at;
        streams->instances += !is_listed_before(list, i);
        int box = box_of(subscriptions, instance->box);
        if (box >= 0 && boxcar_instance_is(instance, owner))
            streams->partitions[box] = instance->partition_count;
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
    CLEANUP(list_free) boxcar_stream_list *list = NULL;
    filter.box = box;
    filter.halted = true;
    filter.limit = HALTED_MAX;
    TRY(boxcar_stream_page(connection, &filter, &list, err));
    *ret_count = (int64_t)list->count;
    return BOXCAR_OK;
}

static bool copy_subscriptions(const boxcar_subscription_list *list, struct metrics_reading *reading) {
    reading->subscriptions = calloc(list->count + 1, sizeof(*reading->subscriptions));
    for (size_t i = 0; reading->subscriptions && i < list->count; i++) {
        const boxcar_subscription *from = list->items[i];
        struct metrics_subscription *to = &reading->subscriptions[reading->subscription_count++];
        *to = (struct metrics_subscription){.box = from->box,
                                            .is_paused = from->paused_at != BOXCAR_TIME_NONE,
                                            .ready = from->ready,
                                            .in_progress = from->in_progress,
                                            .failed = from->failed,
                                            .held = from->held_messages,
                                            .lag_seconds = from->lag_seconds};
        size_t length = from->name.len < METRICS_NAME_SIZE ? from->name.len : METRICS_NAME_SIZE - 1;
        memcpy(to->name, from->name.data, length);
    }
    return reading->subscriptions != NULL;
}

static boxcar_status read_numbers(const struct metrics_store *store, boxcar_store **connection,
                                  struct metrics_reading *reading, boxcar_error *err) {
    CLEANUP(list_free) boxcar_instance_list *instances = NULL;
    CLEANUP(list_free) boxcar_subscription_list *subscriptions = NULL;
    boxcar_upkeep upkeep = BOXCAR_UPKEEP_INIT;
    struct metrics_streams *streams = &reading->streams;
    if (!*connection)
        TRY(connect_to(store, connection, err));
    for (int box = BOXCAR_OUTBOX; box <= BOXCAR_INBOX; box++)
        TRY(read_box(*connection, box, &reading->stats[box], err));
    TRY(boxcar_instance_read(*connection, &instances, err));
    TRY(boxcar_subscription_read(*connection, BOXCAR_NO_STR, &subscriptions, err));
    for (int box = BOXCAR_OUTBOX; box <= BOXCAR_INBOX; box++)
        TRY(count_halted(*connection, box, &streams->halted[box], err));
    TRY(boxcar_stream_violation_count(*connection, &streams->violations, err));
    TRY(boxcar_upkeep_read(*connection, &upkeep, err));
    streams->upkeep_age_seconds = upkeep.seconds;
    summarize(instances, subscriptions, store->owner, streams);
    return copy_subscriptions(subscriptions, reading) ? BOXCAR_OK : BOXCAR_E_NO_MEMORY;
}

/* Under the lock. */
static void keep(struct metrics_store *store, const struct metrics_reading *reading) {
    free(store->reading.subscriptions);
    store->reading = *reading;
    store->known = true;
    store->read_at_us = clock_us();
}

/* One reading, outside the lock, and what came of it. A connection that failed is not kept: it may be
 * to a server that has moved. */
static void look(struct metrics_store *store, boxcar_store **connection) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    struct metrics_reading reading = {.subscriptions = NULL};
    pthread_mutex_unlock(&store->monitor.lock);
    boxcar_status status = read_numbers(store, connection, &reading, &err);
    if (status != BOXCAR_OK) {
        boxcar_store_close(*connection);
        *connection = NULL;
    }
    pthread_mutex_lock(&store->monitor.lock);
    if (status == BOXCAR_OK) {
        keep(store, &reading);
    } else if (!store->failing && !store->stopping) {
        /* Once when it begins: the worker logs more about a store that is gone. */
        log_writer_say(store->log, BOXCAR_LOG_WARN, "metrics", "the store's numbers cannot be read", "error",
                       err.message);
    }
    store->failing = status != BOXCAR_OK;
}

static void *read_again_and_again(void *context) {
    struct metrics_store *store = context;
    boxcar_store *connection = NULL;
    pthread_mutex_lock(&store->monitor.lock);
    while (!store->stopping) {
        int64_t next_us = clock_us() + INTERVAL_US;
        look(store, &connection);
        while (!store->stopping && monitor_wait(&store->monitor, next_us))
            ;
    }
    pthread_mutex_unlock(&store->monitor.lock);
    boxcar_store_close(connection);
    pthread_mutex_lock(&store->monitor.lock);
    bool abandoned = store->abandoned;
    store->ended = true;
    pthread_cond_broadcast(&store->monitor.changed);
    pthread_mutex_unlock(&store->monitor.lock);
    if (abandoned)
        release(store);
    return NULL;
}

struct metrics_store *metrics_store_start(struct cli *cli, boxcar_owner owner) {
    struct metrics_store *store = calloc(1, sizeof(*store));
    if (!store || !monitor_init(&store->monitor)) {
        free(store);
        return NULL;
    }
    store->log = &cli->log;
    store->url = strdup(cli->store_url);
    store->schema = cli->schema ? strdup(cli->schema) : NULL;
    store->owner = owner;
    if (store->url && (store->schema || !cli->schema) &&
        pthread_create(&store->thread, NULL, read_again_and_again, store) == 0)
        return store;
    release(store);
    return NULL;
}

static bool copy_reading(const struct metrics_store *store, struct metrics_reading *ret_reading) {
    size_t size = (store->reading.subscription_count + 1) * sizeof(struct metrics_subscription);
    struct metrics_subscription *copies = malloc(size);
    if (!copies)
        return false;
    *ret_reading = store->reading;
    ret_reading->subscriptions = memcpy(copies, store->reading.subscriptions, size);
    ret_reading->age_seconds = (double)(clock_us() - store->read_at_us) / 1e6;
    return true;
}

bool metrics_store_read(struct metrics_store *store, struct metrics_reading *ret_reading) {
    pthread_mutex_lock(&store->monitor.lock);
    bool known = store->known && copy_reading(store, ret_reading);
    pthread_mutex_unlock(&store->monitor.lock);
    return known;
}

void metrics_store_stop(struct metrics_store *store) {
    if (!store)
        return;
    int64_t deadline_us = clock_us() + FAREWELL_US;
    pthread_t thread = store->thread;
    pthread_mutex_lock(&store->monitor.lock);
    store->stopping = true;
    pthread_cond_broadcast(&store->monitor.changed);
    while (!store->ended && monitor_wait(&store->monitor, deadline_us))
        ;
    bool abandoned = !store->ended;
    store->abandoned = abandoned;
    pthread_mutex_unlock(&store->monitor.lock);
    if (abandoned) {
        pthread_detach(thread);
        return;
    }
    pthread_join(thread, NULL);
    release(store);
}
