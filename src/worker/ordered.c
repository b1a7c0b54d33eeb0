/* Handles streams in parallel, each in order.
 *
 * The messages are sorted once, by box, stream and work id; then a stream is a stretch of neighbours. Threads
 * take whole streams, those with the oldest message first, and never wait for each other. */
#include "ordered.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "worker/crew/delivery.h"

/* The messages of one stream: neighbours in run.sorted. */
struct group {
    size_t from, count;
    int64_t oldest; /* work id */
};

struct run {
    const boxcar_message *const *messages;
    struct ordered_results *results;
    size_t *sorted; /* indexes of messages */
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

struct sort_item {
    const boxcar_message *message;
    size_t index;
};

static int compare_texts(boxcar_str a, boxcar_str b) {
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len > 0 ? memcmp(a.data, b.data, len) : 0;

    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

/* An empty stream is none, as it is for enqueue. */
static int compare_groups(const boxcar_message *a, const boxcar_message *b) {
    if (a->box != b->box)
        return a->box < b->box ? -1 : 1;
    return compare_texts(a->stream, b->stream);
}

static int compare_items(const void *a, const void *b) {
    const boxcar_message *x = ((const struct sort_item *)a)->message,
                         *y = ((const struct sort_item *)b)->message;
    int order = compare_groups(x, y);

    return order != 0 ? order : (x->work_id.value > y->work_id.value) - (x->work_id.value < y->work_id.value);
}

static int compare_ages(const void *a, const void *b) {
    int64_t x = ((const struct group *)a)->oldest, y = ((const struct group *)b)->oldest;

    return (x > y) - (x < y);
}

static boxcar_status refuse_twin(const struct sort_item *twins, boxcar_error *err) {
    size_t later = twins[0].index > twins[1].index ? twins[0].index : twins[1].index;
    char argument[40];

    snprintf(argument, sizeof(argument), "messages[%zu]", later);
    return error_invalid(err, argument, "%s is in the list twice: give each message once", argument);
}

static bool is_next_of_stream(const struct sort_item *items, size_t i) {
    return i > 0 && !str_is_empty(items[i].message->stream) &&
           compare_groups(items[i - 1].message, items[i].message) == 0;
}

static void add_to_group(struct run *run, const struct sort_item *items, size_t i) {
    run->sorted[i] = items[i].index;
    if (is_next_of_stream(items, i))
        run->groups[run->group_count - 1].count++;
    else
        run->groups[run->group_count++] = (struct group){i, 1, items[i].message->work_id.value};
}

static boxcar_status sort(struct run *run, struct arena *arena, size_t count, boxcar_error *err) {
    struct sort_item *items = arena_alloc_array(arena, count, sizeof(*items));

    run->sorted = arena_alloc_array(arena, count, sizeof(*run->sorted));
    run->groups = arena_alloc_array(arena, count, sizeof(*run->groups));
    if (!items || !run->sorted || !run->groups)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++)
        items[i] = (struct sort_item){run->messages[i], i};
    qsort(items, count, sizeof(*items), compare_items);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && compare_items(&items[i - 1], &items[i]) == 0)
            return refuse_twin(&items[i - 1], err);
        add_to_group(run, items, i);
    }
    qsort(run->groups, run->group_count, sizeof(*run->groups), compare_ages);
    return BOXCAR_OK;
}

/* ---- handling ---- */

/* A text that there is no memory for is left out: the verdict counts. */
static boxcar_str text_of(struct hand *hand, const struct boxcar_delivery *delivery) {
    boxcar_str copy;

    return delivery->error &&
                   arena_copy_str(&hand->arena, (boxcar_str){delivery->error, delivery->error_len}, &copy)
               ? copy
               : BOXCAR_NO_STR;
}

static boxcar_verdict handle_one(struct hand *hand, size_t index) {
    struct run *run = hand->run;
    _Atomic int stages = 0;
    _Atomic bool news = false;
    struct boxcar_delivery delivery = {.timer_fd = -1, .deadline_ms = INT64_MAX};
    boxcar_verdict verdict;

    delivery_start(&delivery, run->messages[index], INT64_MAX);
    delivery_take_stages(&delivery, &stages, &news);
    verdict = delivery_check_verdict(&delivery, run->handle(run->context, &delivery));
    run->results->items[index] = (boxcar_ordered_result){.message = run->messages[index],
                                                         .verdict = verdict,
                                                         .ran = true,
                                                         .delay_ms = delivery_delay_ms(&delivery, verdict),
                                                         .error = text_of(hand, &delivery),
                                                         .stages = stages};
    delivery_release(&delivery);
    return verdict;
}

static void handle_group(struct hand *hand, const struct group *group) {
    const struct run *run = hand->run;

    for (size_t i = 0; i < group->count; i++)
        if (handle_one(hand, run->sorted[group->from + i]) != BOXCAR_VERDICT_ACK)
            return;
}

static void *work(void *context) {
    struct hand *hand = context;
    size_t i;

    while ((i = atomic_fetch_add(&hand->run->next, 1)) < hand->run->group_count)
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
    const boxcar_ordered_result **lent;

    if (!results)
        return NULL;
    results->items = arena_alloc_array(&results->arena, count, sizeof(*results->items));
    lent = arena_alloc_array(&results->arena, count, sizeof(*lent));
    if (!results->items || !lent) {
        ordered_results_free(results);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        results->items[i] = (boxcar_ordered_result){.message = messages[i], .verdict = BOXCAR_VERDICT_DEFER};
        lent[i] = &results->items[i];
    }
    results->list = (boxcar_ordered_results){lent, count};
    return results;
}

static boxcar_status run_all(struct run *run, size_t concurrency, boxcar_error *err) {
    struct arena arena = ARENA_INIT;
    boxcar_status status = sort(run, &arena, run->results->list.count, err);
    struct hand *hands = NULL;
    size_t count;

    if (status == BOXCAR_OK) {
        count = run->group_count < concurrency ? run->group_count : concurrency;
        hands = arena_alloc_array(&arena, count > 0 ? count : 1, sizeof(*hands));
        status = hands ? BOXCAR_OK : error_no_memory(err);
        if (hands && count > 0)
            work_together(run, hands, count);
    }
    arena_release(&arena);
    return status;
}

boxcar_status ordered_run(const boxcar_message *const *messages, size_t count, int concurrency,
                          boxcar_handler_fn handle, void *context, boxcar_ordered_results **ret_results,
                          boxcar_error *err) {
    struct run run = {.messages = messages, .handle = handle, .context = context};
    boxcar_status status;

    run.results = results_new(messages, count);
    if (!run.results)
        return error_no_memory(err);
    status = run_all(&run, (size_t)concurrency, err);
    if (status != BOXCAR_OK) {
        ordered_results_free(run.results);
        return status;
    }
    *ret_results = &run.results->list;
    return BOXCAR_OK;
}
