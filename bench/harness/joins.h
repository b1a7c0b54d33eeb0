/* What the scenarios of joins share. */
#ifndef BOXCAR_BENCH_JOINS_H
#define BOXCAR_BENCH_JOINS_H

#include <boxcar/join.h>

#include "bench.h"

/* A join that expects this many steps. */
boxcar_join_id join_start(boxcar_store *store, size_t expected);
/* Enqueues messages, members of a join (none = of nothing), 1,000 at a time. Returns messages per second. */
double join_fill(boxcar_store *store, boxcar_join_id join_id, size_t count);
/* Ends the program unless the join has counted exactly `completed` steps, all of them completed, and has
 * ended if `ended` is true. Reads by SQL: the statuses of the members must agree. */
void join_must_have(const struct place *place, boxcar_join_id join_id, size_t completed, bool ended);

/* Messages that were claimed beforehand, for measuring acks alone. */
struct pile {
    boxcar_owner owner;
    boxcar_settlement *items;
    size_t count;
    atomic_size_t next;
};
/* Claims `count` messages, `batch` to a lease. */
void pile_claim(struct pile *ret_pile, boxcar_store *store, size_t count, size_t batch);
void pile_release(struct pile *pile);
/* Acks the whole pile with this many connections, `batch` messages at a time: messages per second. */
double pile_ack(struct pile *pile, const struct place *place, int connections, size_t batch);

/* The scenario's part about size: reading, and counting to a million. */
void bench_join_size(struct bench *b);

#endif
