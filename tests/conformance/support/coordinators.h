/* The steps that tests of coordinators are made of. */
#ifndef BOXCAR_TESTS_COORDINATORS_H
#define BOXCAR_TESTS_COORDINATORS_H

#include <pthread.h>

#include "conformance.h"

/* What on_flush was told; may be asked from any thread. */
struct ear {
    pthread_mutex_t mutex;
    pthread_cond_t told;
    size_t results, failures, enqueued, duplicates, refused;
};

void ear_init(struct ear *ear);
void ear_release(struct ear *ear);
void ear_hear(void *ear, const boxcar_flush *flush); /* for on_flush */
/* Waits until `count` results, or failed flushes, were reported. */
void ear_await_results(struct ear *ear, size_t count);
void ear_await_failures(struct ear *ear, size_t count);

/* A coordinator for the fixture's store and owner. `store` NULL = the fixture's options. */
boxcar_coordinator *coordinator_open(struct fixture *f, boxcar_strategy strategy,
                                     const boxcar_store_options *store, struct ear *ear);
void coordinator_shut(struct fixture *f, boxcar_coordinator *coordinator);
uint64_t queue_message(struct fixture *f, boxcar_coordinator *coordinator, const char *payload);
uint64_t queue_ack(struct fixture *f, boxcar_coordinator *coordinator, struct taken taken);
boxcar_flush *flush(struct fixture *f, boxcar_coordinator *coordinator); /* succeeds; the caller frees it */
/* The result of a ticket, which the flush must have. */
const boxcar_flushed *result_of(const boxcar_flush *flush, uint64_t ticket);

/* The handle of the coordinator's own store; NULL on PostgreSQL. */
sqlite3 *coordinator_sqlite(boxcar_coordinator *coordinator);
/* From now on the next answer of the coordinator's store is lost on its way back: what was asked is
 * done. */
void lose_the_next_answer(boxcar_coordinator *coordinator);

#endif
