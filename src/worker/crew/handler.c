#include "handler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "core/topic.h"

/* Seconds; from what a callback takes to what a slow program takes. */
static const double BUCKETS[BOXCAR_HANDLER_BUCKETS] = {
    0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.25, 1, 2.5, 10, 60, 300, INFINITY};

double boxcar_handler_bucket_seconds(size_t i) { return i < BOXCAR_HANDLER_BUCKETS ? BUCKETS[i] : INFINITY; }

static void handler_free(struct handler *handler) {
    if (!handler)
        return;
    if (handler->release)
        handler->release(handler->context);
    free(handler->topic);
    free(handler);
}

static bool has_pattern(const struct handler_table *table, boxcar_box box, boxcar_str topic) {
    for (size_t i = 0; i < table->boxes[box].count; i++) {
        boxcar_str known = table->boxes[box].patterns[i];

        if (known.len == topic.len && memcmp(known.data, topic.data, topic.len) == 0)
            return true;
    }
    return false;
}

static bool grow_list(struct handler ***list, size_t count) {
    struct handler **items = realloc(*list, (count + 1) * sizeof(struct handler *));

    if (items)
        *list = items;
    return items != NULL;
}

static bool grow(struct handler_table *table, boxcar_box box) {
    size_t count = table->boxes[box].count;
    boxcar_str *patterns;

    if (!grow_list(&table->items, table->count) || !grow_list(&table->boxes[box].items, count))
        return false;
    patterns = realloc(table->boxes[box].patterns, (count + 1) * sizeof(boxcar_str));
    if (!patterns)
        return false;
    table->boxes[box].patterns = patterns;
    return true;
}

boxcar_status handler_table_add(struct handler_table *table, boxcar_box box, boxcar_str topic,
                                boxcar_handler_fn run, void *context, void (*release)(void *context),
                                boxcar_error *err) {
    struct handler *handler = calloc(1, sizeof(*handler));

    if (!handler) {
        if (release)
            release(context);
        return error_no_memory(err);
    }
    handler->box = box;
    handler->run = run;
    handler->context = context;
    handler->release = release;
    if (has_pattern(table, box, topic)) {
        handler_free(handler);
        error_invalid(err, "topic", "topic '%.*s' has a handler already in the %s: give each topic one",
                      (int)(topic.len < 200 ? topic.len : 200), topic.data, boxcar_box_name(box));
        if (err)
            err->status = BOXCAR_E_CONFLICT;
        return BOXCAR_E_CONFLICT;
    }
    handler->topic = memory_copy_text(topic);
    handler->topic_len = topic.len;
    if (!handler->topic || !grow(table, box)) {
        handler_free(handler);
        return error_no_memory(err);
    }
    table->items[table->count++] = handler;
    table->boxes[box].items[table->boxes[box].count] = handler;
    table->boxes[box].patterns[table->boxes[box].count++] = handler_topic(handler);
    return BOXCAR_OK;
}

struct handler *handler_table_find(const struct handler_table *table, boxcar_box box, boxcar_str topic) {
    ptrdiff_t i =
        topic_best_match(table->boxes[box].patterns, table->boxes[box].count, sizeof(boxcar_str), topic);

    return i < 0 ? NULL : table->boxes[box].items[i];
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
        handler_free(table->items[i]);
    for (int box = 0; box < BOXES; box++) {
        free(table->boxes[box].items);
        free(table->boxes[box].patterns);
    }
    free(table->items);
    free(table);
}

void handler_count_time(struct handler *handler, int64_t microseconds) {
    size_t i = 0;

    while (i < BOXCAR_HANDLER_BUCKETS - 1 && (double)microseconds > BUCKETS[i] * 1e6)
        i++;
    atomic_fetch_add(&handler->buckets[i], 1);
    atomic_fetch_add(&handler->microseconds, microseconds);
}

void handler_read_stats(struct handler *handler, boxcar_handler_stats *ret_stats) {
    boxcar_handler_stats stats = BOXCAR_HANDLER_STATS_INIT;
    size_t size = ret_stats->struct_size;

    stats.topic = handler_topic(handler);
    stats.box = handler->box;
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
    if (size > sizeof(stats))
        size = sizeof(stats);
    memcpy(ret_stats, &stats, size);
    ret_stats->struct_size = size;
}
