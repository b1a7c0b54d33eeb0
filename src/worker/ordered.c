/* Handles streams in parallel, each in order.
 *
 * The messages are sorted once, by box, stream and work id; then a stream is a stretch of neighbours. Threads
 * take whole streams, those with the oldest message first, and never wait for each other. */
#include "ordered.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "worker/crew/delivery.h"
#include "worker/crew/job.h"

/* The messages of one stream: neighbours in run.sorted. */
struct group {
    size_t from, count;
    int64_t oldest; /* work id */
};

struct run {
    struct ordered_results *results;
    boxcar_ordered_result **sorted;
    struct group *groups;
    size_t group_count;
    boxcar_handler_fn handle;
    void *context;
    _Atomic size_t next; /* group */
};

struct hand {
    struct run *run;
    pthread_t thread;
    struct arena arena; /* of the texts of its results */
};

/* ---- sorting ---- */

static int compare_results(const void *a, const void *b) {
    return stream_compare_places((*(boxcar_ordered_result *const *)a)->message,
                                 (*(boxcar_ordered_result *const *)b)->message);
}

static int compare_ages(const void *a, const void *b) {
    int64_t x = ((const struct group *)a)->oldest, y = ((const struct group *)b)->oldest;
    return (x > y) - (x < y);
}

static boxcar_status refuse_twin(const struct run *run, size_t i, boxcar_error *err) {
    const boxcar_ordered_result *later =
        run->sorted[i - 1] > run->sorted[i] ? run->sorted[i - 1] : run->sorted[i];
    char argument[40];
    snprintf(argument, sizeof(argument), "messages[%zu]", (size_t)(later - run->results->items));
    return error_invalid(err, argument, "%s is in the list twice: give each message once", argument);
}

/* An empty stream is none, as it is for enqueue. */
static bool is_next_of_stream(const struct run *run, size_t i) {
    return i > 0 && !str_is_empty(run->sorted[i]->message->stream) &&
           stream_compare(run->sorted[i - 1]->message, run->sorted[i]->message) == 0;
}

static boxcar_status sort(struct run *run, struct arena *arena, boxcar_error *err) {
    size_t count = run->results->list.count;
    run->sorted = arena_alloc_array(arena, count, sizeof(boxcar_ordered_result *));
    run->groups = arena_alloc_array(arena, count, sizeof(*run->groups));
    if (!run->sorted || !run->groups)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++)
        run->sorted[i] = &run->results->items[i];
    qsort(run->sorted, count, sizeof(boxcar_ordered_result *), compare_results);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && compare_results(&run->sorted[i - 1], &run->sorted[i]) == 0)
            return refuse_twin(run, i, err);
        if (is_next_of_stream(run, i))
            run->groups[run->group_count - 1].count++;
        else
            run->groups[run->group_count++] = (struct group){i, 1, run->sorted[i]->message->work_id.value};
    }
    qsort(run->groups, run->group_count, sizeof(*run->groups), compare_ages);
    return BOXCAR_OK;
}

/* ---- handling ---- */

/* A text that there is no memory for is left out: the verdict counts. */
static boxcar_str text_of(struct hand *hand, const struct boxcar_delivery *delivery) {
    boxcar_str text = {delivery->error, delivery->error_len};
    return arena_copy_str(&hand->arena, text, &text) ? text : BOXCAR_NO_STR;
}

static boxcar_verdict handle_one(struct hand *hand, boxcar_ordered_result *result) {
    _Atomic int stages = 0;
    _Atomic bool news = false;
    struct boxcar_delivery delivery = {.message = result->message,
                                       .timer_fd = -1,
                                       .deadline_ms = INT64_MAX,
                                       .stages = &stages,
                                       .news = &news,
                                       .delay_ms = BOXCAR_BACKOFF};
    result->verdict = delivery_check_verdict(&delivery, hand->run->handle(hand->run->context, &delivery));
    result->ran = true;
    result->delay_ms = delivery_delay_ms(&delivery, result->verdict);
    result->error = text_of(hand, &delivery);
    result->stages = stages;
    delivery_release(&delivery);
    return result->verdict;
}

static void handle_group(struct hand *hand, const struct group *group) {
    for (size_t i = group->from; i < group->from + group->count; i++)
        if (handle_one(hand, hand->run->sorted[i]) != BOXCAR_VERDICT_ACK)
            return;
}

static void *work(void *context) {
    struct hand *hand = context;
    for (size_t i; (i = atomic_fetch_add(&hand->run->next, 1)) < hand->run->group_count;)
        handle_group(hand, &hand->run->groups[i]);
    return NULL;
}

/* The caller's thread is one of them. */
static void work_together(struct run *run, struct hand *hands, size_t count) {
    size_t started = 1;
    for (size_t i = 0; i < count; i++)
        hands[i].run = run;
    while (started < count && pthread_create(&hands[started].thread, NULL, work, &hands[started]) == 0)
        started++;
    work(&hands[0]);
    for (size_t i = 1; i < started; i++)
        pthread_join(hands[i].thread, NULL);
    for (size_t i = 0; i < count; i++)
        arena_adopt(&run->results->arena, &hands[i].arena);
}

/* ---- all of it ---- */

void ordered_results_free(struct ordered_results *results) {
    if (!results)
        return;
    arena_release(&results->arena);
    free(results);
}

/* Until it has run, a message is one that did not. */
static struct ordered_results *results_new(const boxcar_message *const *messages, size_t count) {
    struct ordered_results *results = calloc(1, sizeof(*results));
    if (!results)
        return NULL;
    results->items = arena_alloc_array(&results->arena, count, sizeof(*results->items));
    if (results->items)
        results->list.items = list_pointers(&results->arena, results->items, count, sizeof(*results->items));
    if (!results->list.items) {
        ordered_results_free(results);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        results->items[i] = (boxcar_ordered_result){.message = messages[i], .verdict = BOXCAR_VERDICT_DEFER};
    results->list.count = count;
    return results;
}

static boxcar_status run_all(struct run *run, size_t concurrency, boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    TRY(sort(run, &arena, err));
    size_t count = run->group_count < concurrency ? run->group_count : concurrency;
    if (count == 0)
        return BOXCAR_OK;
    struct hand *hands = arena_alloc_array(&arena, count, sizeof(*hands));
    if (!hands)
        return error_no_memory(err);
    work_together(run, hands, count);
    return BOXCAR_OK;
}

boxcar_status ordered_run(const boxcar_message *const *messages, size_t count, int concurrency,
                          boxcar_handler_fn handle, void *context, boxcar_ordered_results **ret_results,
                          boxcar_error *err) {
    struct run run = {.results = results_new(messages, count), .handle = handle, .context = context};
    boxcar_status status = run.results ? run_all(&run, (size_t)concurrency, err) : error_no_memory(err);
    if (status == BOXCAR_OK)
        *ret_results = &run.results->list;
    else
        ordered_results_free(run.results);
    return status;
}
