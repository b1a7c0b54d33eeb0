/* The older program's own work: coordinators, workers, the ordered processor, the inbox, a feed. */
#include <boxcar/backoff.h>
#include <boxcar/coordinator.h>
#include <boxcar/feed.h>
#include <boxcar/inbox.h>
#include <boxcar/ordered.h>
#include <boxcar/worker.h>

#include "older.h"

/* ---- coordinators and the ordered processor ---- */

static void count_flush(void *context, const boxcar_flush *flush) { *(size_t *)context += flush->count; }

static boxcar_verdict refuse_second(void *context, boxcar_delivery *delivery) {
    const boxcar_message *message = boxcar_delivery_message(delivery);

    ++*(int *)context;
    return is(message->payload, "second") ? BOXCAR_VERDICT_FAIL : BOXCAR_VERDICT_ACK;
}

static void handle_in_order(boxcar_coordinator *coordinator, const boxcar_message_list *list) {
    GUARDED(boxcar_ordered_options, options, 1, BOXCAR_ORDERED_OPTIONS_INIT);
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_ordered_results *results = NULL;
    uint64_t ticket = 0;
    int handled = 0;

    must(boxcar_ordered_run(list, options.items, refuse_second, &handled, &results, &err), &err, "ordered");
    CHECK_GUARD(options);
    check(handled == 2 && results->count == 3, "handled");
    for (size_t i = 0; i < 3; i++)
        check(results->items[i]->message == list->items[i] && results->items[i]->ran == (i < 2),
              "ordered result");
    check(results->items[0]->verdict == BOXCAR_VERDICT_ACK &&
              results->items[1]->verdict == BOXCAR_VERDICT_FAIL &&
              results->items[2]->verdict == BOXCAR_VERDICT_DEFER,
          "verdict");
    must(boxcar_ordered_settle(coordinator, results, &ticket, &err), &err, "ordered settle");
    boxcar_ordered_results_free(results);
}

static void queue_three(boxcar_coordinator *coordinator) {
    static const char *const payloads[3] = {"first", "second", "third"};
    GUARDED(boxcar_new_message, messages, 3, BOXCAR_NEW_MESSAGE_INIT);
    boxcar_error err = BOXCAR_ERROR_INIT;
    uint64_t ticket = 0;

    for (int i = 0; i < 3; i++) {
        messages.items[i] = BOXCAR_NEW_MESSAGE_INIT;
        messages.items[i].topic = BOXCAR_STR("ordered");
        messages.items[i].stream = BOXCAR_STR("in order");
        messages.items[i].source = BOXCAR_STR("older");
        messages.items[i].external_id = messages.items[i].payload = boxcar_str_of(payloads[i]);
    }
    must(boxcar_coordinator_enqueue(coordinator, BOXCAR_INBOX, messages.items, 3, &ticket, &err), &err,
         "queue");
    CHECK_GUARD(messages);
    check(ticket == 1 && boxcar_coordinator_queued(coordinator) == 3, "queued");
}

static boxcar_flush *flush(boxcar_coordinator *coordinator, const boxcar_flush_options *options) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_flush *flushed = NULL;

    must(boxcar_coordinator_flush(coordinator, options, &flushed, &err), &err, "flush");
    check(flushed != NULL && flushed->refused_count == 0 && !flushed->error, "flush");
    return flushed;
}

void work_with_coordinators(const char *url) {
    GUARDED(boxcar_store_options, store, 1, BOXCAR_STORE_OPTIONS_INIT);
    GUARDED(boxcar_coordinator_options, options, 1, BOXCAR_COORDINATOR_OPTIONS_INIT);
    GUARDED(boxcar_flush_options, asked, 1, BOXCAR_FLUSH_OPTIONS_INIT);
    GUARDED(boxcar_claimer, claimer, 1, BOXCAR_CLAIMER_INIT);
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_coordinator *coordinator = NULL;
    boxcar_flush *flushed;
    size_t told = 0;

    store.items[0].url = boxcar_str_of(url);
    options.items[0].store = store.items;
    options.items[0].strategy = BOXCAR_STRATEGY_SCOPED;
    options.items[0].on_flush = count_flush;
    options.items[0].on_flush_context = &told;
    must(boxcar_coordinator_new(options.items, &coordinator, &err), &err, "coordinator");
    queue_three(coordinator);
    flushed = flush(coordinator, NULL);
    check(flushed->count == 3, "results");
    for (size_t i = 0; i < 3; i++)
        check(flushed->items[i]->ticket == i + 1 && flushed->items[i]->outcome == BOXCAR_OUTCOME_ENQUEUED &&
                  flushed->items[i]->box == BOXCAR_INBOX &&
                  boxcar_flush_find(flushed, i + 1) == flushed->items[i],
              "flushed");
    boxcar_flush_free(flushed);
    asked.items[0].claims[BOXCAR_INBOX] = claimer.items;
    flushed = flush(coordinator, asked.items);
    check(flushed->claimed[BOXCAR_INBOX]->count == 3 && flushed->claimed[BOXCAR_OUTBOX]->count == 0,
          "claimed");
    handle_in_order(coordinator, flushed->claimed[BOXCAR_INBOX]);
    boxcar_flush_free(flushed);
    flushed = flush(coordinator, NULL);
    check(flushed->count == 3, "results");
    for (size_t i = 0; i < 3; i++)
        check(flushed->items[i]->outcome == BOXCAR_OUTCOME_SETTLED && !flushed->items[i]->enqueues,
              "settled");
    boxcar_flush_free(flushed);
    must(boxcar_coordinator_close(coordinator, &err), &err, "close");
    boxcar_coordinator_free(coordinator);
    check(told == 6, "on_flush");
    CHECK_GUARD(store);
    CHECK_GUARD(options);
    CHECK_GUARD(asked);
    CHECK_GUARD(claimer);
}

/* ---- workers ---- */

/* The first attempt fails, the second is done. */
static boxcar_verdict succeed_later(void *context, boxcar_delivery *delivery) {
    const boxcar_message *message = boxcar_delivery_message(delivery);
    boxcar_error err = BOXCAR_ERROR_INIT;

    (void)context;
    must(boxcar_delivery_record_stages(delivery, BOXCAR_STAGE_PUBLISHED, &err), &err, "stages");
    return message->retry_count == 0 ? BOXCAR_VERDICT_RETRY : BOXCAR_VERDICT_ACK;
}

static void look_at_stats(boxcar_worker *worker) {
    GUARDED(boxcar_worker_stats, stats, 1, BOXCAR_WORKER_STATS_INIT);
    GUARDED(boxcar_handler_stats, handler, 1, BOXCAR_HANDLER_STATS_INIT);
    int64_t calls = 0;

    boxcar_worker_stats_read(worker, stats.items);
    CHECK_GUARD(stats);
    check(stats.items[0].struct_size == sizeof(boxcar_worker_stats) &&
              stats.items[0].state == BOXCAR_WORKER_STOPPED && stats.items[0].claimed >= 2,
          "worker stats");
    check(boxcar_worker_handler_stats_read(worker, 0, handler.items), "handler stats");
    CHECK_GUARD(handler);
    for (int i = 0; i < BOXCAR_HANDLER_BUCKETS; i++)
        calls += handler.items[0].buckets[i];
    check(handler.items[0].struct_size == sizeof(boxcar_handler_stats) &&
              is(handler.items[0].topic, "work") && handler.items[0].acked == 1 &&
              handler.items[0].retried == 1 && calls == 2 && handler.items[0].box == BOXCAR_OUTBOX,
          "handler stats");
}

void work_with_workers(boxcar_store *store, const char *url) {
    GUARDED(boxcar_store_options, own, 1, BOXCAR_STORE_OPTIONS_INIT);
    GUARDED(boxcar_new_message, message, 1, BOXCAR_NEW_MESSAGE_INIT);
    GUARDED(boxcar_worker_options, options, 1, BOXCAR_WORKER_OPTIONS_INIT);
    GUARDED(boxcar_handler, handler, 1, BOXCAR_HANDLER_INIT);
    GUARDED(boxcar_backoff_policy, backoff, 1, BOXCAR_BACKOFF_POLICY_INIT);
    boxcar_backoff_topic quick = {BOXCAR_STR("work"), {1, 1.0, 1, 0.0}};
    boxcar_message claimed = {.topic = BOXCAR_STR("other"), .retry_count = 1};
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_worker *worker = NULL;

    backoff.items[0].topics = &quick;
    backoff.items[0].topic_count = 1;
    check(boxcar_backoff_delay_ms(backoff.items, &claimed, 0) == 4000, "backoff");
    message.items[0].topic = BOXCAR_STR("work");
    message.items[0].payload = BOXCAR_STR("");
    must(boxcar_enqueue(store, BOXCAR_OUTBOX, message.items, NULL, &err), &err, "enqueue");
    own.items[0].url = boxcar_str_of(url);
    options.items[0].store = own.items;
    options.items[0].drain = true;
    options.items[0].backoff = backoff.items;
    must(boxcar_worker_new(options.items, &worker, &err), &err, "worker");
    handler.items[0].topic = BOXCAR_STR("work");
    handler.items[0].run = succeed_later;
    must(boxcar_worker_handle(worker, handler.items, &err), &err, "handler");
    must(boxcar_worker_run(worker, &err), &err, "run");
    look_at_stats(worker);
    boxcar_worker_free(worker);
    CHECK_GUARD(own);
    CHECK_GUARD(message);
    CHECK_GUARD(options);
    CHECK_GUARD(handler);
    CHECK_GUARD(backoff);
}

/* ---- the inbox, and a feed ---- */

void receive(boxcar_store *store) {
    const boxcar_inbox_key key = {BOXCAR_STR("older"), BOXCAR_STR("first")};
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_inbox_receipt_list *list = NULL;
    bool processed = false, is_new = true;

    must(boxcar_inbox_already_processed(store, key, BOXCAR_NO_STR, &processed, NULL, &err), &err,
         "processed");
    must(boxcar_inbox_accept(store, key, BOXCAR_NO_STR, &is_new, NULL, &err), &err, "accept");
    check(processed && !is_new, "processed");
    must(boxcar_inbox_find(store, key, &list, &err), &err, "receipt");
    check(list->count == 1 && is(list->items[0]->external_id, "first") &&
              list->items[0]->state == BOXCAR_INBOX_DONE && list->items[0]->seen_count == 3,
          "receipt");
    boxcar_list_free(list);
}

struct rows {
    boxcar_new_message messages[2];
    boxcar_enqueued enqueued[2];
    int chunks;
};

static boxcar_status next_chunk(void *context, int64_t wait_ms, boxcar_chunk *ret_chunk, boxcar_error *err) {
    struct rows *rows = context;

    (void)wait_ms;
    (void)err;
    ret_chunk->messages = &rows->messages[rows->chunks];
    ret_chunk->enqueued = &rows->enqueued[rows->chunks];
    ret_chunk->count = 1;
    ret_chunk->is_last = ++rows->chunks == 2;
    return BOXCAR_OK;
}

void feed(boxcar_store *store) {
    GUARDED(struct rows, rows, 1, {.chunks = 0});
    boxcar_error err = BOXCAR_ERROR_INIT;

    for (int i = 0; i < 2; i++) {
        rows.items[0].messages[i] = BOXCAR_NEW_MESSAGE_INIT;
        rows.items[0].messages[i].topic = BOXCAR_STR("fed");
        rows.items[0].messages[i].payload = BOXCAR_STR("");
    }
    must(boxcar_enqueue_feed(store, BOXCAR_OUTBOX, next_chunk, rows.items, &err), &err, "feed");
    CHECK_GUARD(rows);
    check(rows.items[0].chunks == 2 &&
              rows.items[0].enqueued[1].work_id.value > rows.items[0].enqueued[0].work_id.value,
          "fed");
}
