#include "handler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/utf8.h"
#include "core/topic.h"

/* Seconds; from what a callback takes to what a slow program takes. */
static const double BUCKETS[BOXCAR_HANDLER_BUCKETS] = {
    0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.25, 1, 2.5, 10, 60, 300, INFINITY};

double boxcar_handler_bucket_seconds(size_t i) { return i < BOXCAR_HANDLER_BUCKETS ? BUCKETS[i] : INFINITY; }

static boxcar_status refuse_twin(const struct handler *handler, boxcar_error *err) {
    boxcar_str topic = handler->topic;
    error_invalid(err, "topic", "topic '%.*s' has a handler already in the %s: give each topic one",
                  (int)(topic.len < 200 ? topic.len : 200), topic.data, boxcar_box_name(handler->box));
    if (err)
        err->status = BOXCAR_E_CONFLICT;
    return BOXCAR_E_CONFLICT;
}

static boxcar_status add(struct handler_table *table, struct handler *handler, boxcar_error *err) {
    struct handler_pattern *patterns = table->boxes[handler->box].items;
    size_t count = table->boxes[handler->box].count;
    for (size_t i = 0; i < count; i++)
        if (str_equal(patterns[i].topic, handler->topic))
            return refuse_twin(handler, err);
    if (!arena_copy_str(&table->arena, handler->topic, &handler->topic) ||
        !memory_resize(&table->items, table->count + 1, sizeof(*table->items)) ||
        !memory_resize(&table->boxes[handler->box].items, count + 1, sizeof(*patterns)))
        return error_no_memory(err);
    table->items[table->count++] = handler;
    table->boxes[handler->box].items[count] = (struct handler_pattern){handler->topic, handler};
    table->boxes[handler->box].count++;
    return BOXCAR_OK;
}

boxcar_status handler_table_add(struct handler_table *table, boxcar_box box, boxcar_str topic,
                                boxcar_handler_fn run, void *context, void (*release)(void *context),
                                boxcar_error *err) {
    struct handler *handler = arena_alloc(&table->arena, sizeof(*handler));
    if (handler)
        *handler =
            (struct handler){.box = box, .topic = topic, .run = run, .context = context, .release = release};
    boxcar_status status = handler ? add(table, handler, err) : error_no_memory(err);
    if (status != BOXCAR_OK && release)
        release(context);
    return status;
}

struct handler *handler_table_find(const struct handler_table *table, boxcar_box box, boxcar_str topic) {
    const struct handler_pattern *patterns = table->boxes[box].items;
    if (!patterns)
        return NULL;
    ptrdiff_t i = topic_best_match(&patterns->topic, table->boxes[box].count, sizeof(*patterns), topic);
    return i < 0 ? NULL : patterns[i].handler;
}

struct handler_table *handler_table_new(void) {
    struct handler_table *table = calloc(1, sizeof(*table));
    if (table)
        atomic_init(&table->references, 1);
    return table;
}

void handler_table_retain(struct handler_table *table) { atomic_fetch_add(&table->references, 1); }

void handler_table_release(struct handler_table *table) {
    if (!table || atomic_fetch_sub(&table->references, 1) != 1)
        return;
    for (size_t i = 0; i < table->count; i++)
        if (table->items[i]->release)
            table->items[i]->release(table->items[i]->context);
    for (int box = 0; box < BOXES; box++)
        free(table->boxes[box].items);
    free(table->items);
    arena_release(&table->arena);
    free(table);
}

void handler_count_time(struct handler *handler, int64_t microseconds) {
    size_t i = 0;
    while (i < BOXCAR_HANDLER_BUCKETS - 1 && (double)microseconds > BUCKETS[i] * 1e6)
        i++;
    atomic_fetch_add(&handler->buckets[i], 1);
    atomic_fetch_add(&handler->microseconds, microseconds);
}

void handler_read_stats(struct handler *handler, boxcar_box reader, boxcar_handler_stats *ret_stats) {
    boxcar_handler_stats stats = BOXCAR_HANDLER_STATS_INIT;
    stats.topic = handler->topic;
    stats.box = handler->box;
    stats.reader = reader;
    stats.running = atomic_load(&handler->running);
    stats.acked = atomic_load(&handler->outcomes[OUTCOME_ACKED]);
    stats.retried = atomic_load(&handler->outcomes[OUTCOME_RETRIED]);
    stats.failed = atomic_load(&handler->outcomes[OUTCOME_FAILED]);
    stats.deferred = atomic_load(&handler->outcomes[OUTCOME_DEFERRED]);
    stats.lost = atomic_load(&handler->outcomes[OUTCOME_LOST]);
    stats.dead = atomic_load(&handler->outcomes[OUTCOME_DEAD]);
    stats.timed_out = atomic_load(&handler->timed_out);
    stats.seconds = (double)atomic_load(&handler->microseconds) / 1e6;
    for (size_t i = 0; i < BOXCAR_HANDLER_BUCKETS; i++)
        stats.buckets[i] = atomic_load(&handler->buckets[i]);
    answers_write(ret_stats, &stats, 1, sizeof(stats));
}
