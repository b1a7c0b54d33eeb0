#include "coordinators.h"

#include <string.h>

#include "request/coordinator/coordinator.h"

void ear_init(struct ear *ear) {
    *ear = (struct ear){.results = 0};
    pthread_mutex_init(&ear->mutex, NULL);
    pthread_cond_init(&ear->told, NULL);
}

void ear_release(struct ear *ear) {
    pthread_cond_destroy(&ear->told);
    pthread_mutex_destroy(&ear->mutex);
}

void ear_hear(void *context, const boxcar_flush *flushed) {
    struct ear *ear = context;

    pthread_mutex_lock(&ear->mutex);
    ear->results += flushed->count;
    ear->failures += flushed->error != NULL;
    ear->refused += flushed->refused_count;
    for (size_t i = 0; i < flushed->count; i++) {
        ear->enqueued += flushed->items[i]->outcome == BOXCAR_OUTCOME_ENQUEUED;
        ear->duplicates += flushed->items[i]->outcome == BOXCAR_OUTCOME_DUPLICATE;
    }
    pthread_cond_broadcast(&ear->told);
    pthread_mutex_unlock(&ear->mutex);
}

static void await(struct ear *ear, const size_t *what, size_t count) {
    pthread_mutex_lock(&ear->mutex);
    while (*what < count)
        pthread_cond_wait(&ear->told, &ear->mutex);
    pthread_mutex_unlock(&ear->mutex);
}

void ear_await_results(struct ear *ear, size_t count) { await(ear, &ear->results, count); }

void ear_await_failures(struct ear *ear, size_t count) { await(ear, &ear->failures, count); }

boxcar_coordinator *coordinator_open(struct fixture *f, boxcar_strategy strategy,
                                     const boxcar_store_options *store, struct ear *ear) {
    boxcar_coordinator_options options = BOXCAR_COORDINATOR_OPTIONS_INIT;
    boxcar_store_options own = fixture_options(f);
    boxcar_coordinator *coordinator = NULL;

    options.store = store ? store : &own;
    options.owner = f->owner;
    options.strategy = strategy;
    options.interval_ms = strategy == BOXCAR_STRATEGY_INTERVAL ? 5 : BOXCAR_INTERVAL_MS_MAX;
    options.size = 10;
    options.on_flush = ear ? ear_hear : NULL;
    options.on_flush_context = ear;
    ASSERT_OK(f, boxcar_coordinator_new(&options, &coordinator, &f->err));
    return coordinator;
}

void coordinator_shut(struct fixture *f, boxcar_coordinator *coordinator) {
    ASSERT_OK(f, boxcar_coordinator_close(coordinator, &f->err));
    boxcar_coordinator_free(coordinator);
}

uint64_t queue_message(struct fixture *f, boxcar_coordinator *coordinator, const char *payload) {
    boxcar_new_message message = new_message("t", payload);
    uint64_t ticket = 0;

    ASSERT_OK(f, boxcar_coordinator_enqueue(coordinator, BOXCAR_OUTBOX, &message, 1, &ticket, &f->err));
    return ticket;
}

uint64_t queue_ack(struct fixture *f, boxcar_coordinator *coordinator, struct taken taken) {
    boxcar_settlement settlement = settlement_of(taken);
    uint64_t ticket = 0;

    ASSERT_OK(f, boxcar_coordinator_settle(coordinator, BOXCAR_OUTBOX, BOXCAR_ACK, &settlement, 1, 0, &ticket,
                                           &f->err));
    return ticket;
}

boxcar_flush *flush(struct fixture *f, boxcar_coordinator *coordinator) {
    boxcar_flush *flushed = NULL;

    ASSERT_OK(f, boxcar_coordinator_flush(coordinator, NULL, &flushed, &f->err));
    assert_non_null(flushed);
    return flushed;
}

const boxcar_flushed *result_of(const boxcar_flush *flushed, uint64_t ticket) {
    const boxcar_flushed *result = boxcar_flush_find(flushed, ticket);

    assert_non_null(result);
    return result;
}

sqlite3 *coordinator_sqlite(boxcar_coordinator *coordinator) {
    return boxcar_store_sqlite_handle(coordinator->store);
}

/* ---- lost answers ---- */

static const struct store_ops *REAL_OPS;
static struct store_ops DEAF_OPS;

static boxcar_status process_and_forget(struct boxcar_store *store, const struct request *batch,
                                        struct result *ret_result, boxcar_error *err) {
    struct result lost = {.arena = ARENA_INIT};
    boxcar_status status = REAL_OPS->process(store, batch, &lost, err);

    (void)ret_result;
    store->ops = REAL_OPS;
    result_release(&lost);
    if (status != BOXCAR_OK)
        return status;
    *err = (boxcar_error){.status = BOXCAR_E_UNAVAILABLE,
                          .retryable = true,
                          .outcome_unknown = true,
                          .message = "the answer was lost"};
    return BOXCAR_E_UNAVAILABLE;
}

void lose_the_next_answer(boxcar_coordinator *coordinator) {
    REAL_OPS = coordinator->store->ops;
    DEAF_OPS = *REAL_OPS;
    DEAF_OPS.process = process_and_forget;
    coordinator->store->ops = &DEAF_OPS;
}
