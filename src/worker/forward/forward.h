/* Forwarding: what policies (boxcar/fanout.h) want of a worker, done beside its work loop.
 *
 * A route is a subscription with destinations, of one source store. A few threads visit the routes, each time
 * the one whose time came first: they claim, store the copies and settle, with connections of their own. So a
 * slow destination holds up no handler, and at most all threads but one are busy with other stores: what
 * stays within a store goes on.
 *
 * A work loop knows its store's routes: it reads them now and then (loop/routes.c) and hands them over. The
 * threads start when there is the first route. A worker has one forwarding, also if it has many stores.
 *
 * Log records of changes are written under its mutex, so that they are in order: what takes them must not ask
 * for figures (boxcar/log.h).
 *
 * Threads: any thread may call, but for _new, _set_stores, _end and _free. */
#ifndef BOXCAR_WORKER_FORWARD_FORWARD_H
#define BOXCAR_WORKER_FORWARD_FORWARD_H

#include "worker/worker.h"

/* Where the store with this key is; the texts are copied to the arena. BOXCAR_E_NOT_FOUND = no store has it.
 */
typedef boxcar_status forward_locate_fn(void *context, boxcar_str key, struct arena *arena,
                                        boxcar_str *ret_url, boxcar_str *ret_schema, boxcar_error *err);

/* `worker` is the whole one and outlives it. It knows no other store. NULL = out of memory. */
struct forwarding *forwarding_new(struct boxcar_worker *worker);
/* Copies have come into the store with this id. */
typedef void forward_arrived_fn(void *context, const char *store_id);

/* Before the first offer. */
void forwarding_set_stores(struct forwarding *forwarding, forward_locate_fn *locate,
                           forward_arrived_fn *arrived, void *context);
/* Begins no new batch; gives back what is claimed and not stored. Returns at once. */
void forwarding_hurry(struct forwarding *forwarding);
/* The same, and waits for the threads and closes all connections; the figures stay. NULL is fine. */
void forwarding_end(struct forwarding *forwarding);
/* NULL is fine. */
void forwarding_free(struct forwarding *forwarding);

/* ---- for the loop of a store; `worker` and `store` are its own ---- */

/* The policies' subscriptions as they are now. The rows are borrowed for the call. Whatever was known of the
 * store before and is not among them is forgotten. */
void forwarding_offer(struct forwarding *forwarding, struct boxcar_worker *worker,
                      const struct boxcar_store *store, const struct subscription_rows *rows);
/* The store has schedules that run. due_at: of shards without an open slice; BOXCAR_TIME_NONE = all have one.
 */
void forwarding_plan(struct forwarding *forwarding, struct boxcar_worker *worker,
                     const struct boxcar_store *store, boxcar_time due_at);
/* Whether it plans for this store: then it finds new schedules while the loop goes on. */
bool forwarding_plans(struct forwarding *forwarding, const char *store_id);
/* Something may have arrived. true = some route waited for it. */
bool forwarding_poke(struct forwarding *forwarding, const char *store_id);
/* Whether some route of the store waits for arrivals: the loop is to wake up for them. The loop is woken when
 * that becomes true. */
bool forwarding_waits(struct forwarding *forwarding, const char *store_id);
/* The loop ends: routes that have nothing to do rest until the next offer. */
void forwarding_rest(struct forwarding *forwarding, const char *store_id);
/* The store is no longer one of the worker's. */
void forwarding_withdraw(struct forwarding *forwarding, const char *store_id);

/* What a drain does not wait for: the subscription is paused, its destination is not known here, or was away
 * at several tries, or so was the store for forwarding. Writes why. */
bool forwarding_is_excused(struct forwarding *forwarding, const char *store_id, boxcar_box reader,
                           const char **ret_why);
/* Whether some messages of this route wait for a destination that is away: those do not count. */
bool forwarding_has_away(struct forwarding *forwarding, const char *store_id, boxcar_box reader);
/* A drain must not end while a thread holds messages of the store. */
bool forwarding_is_busy(struct forwarding *forwarding, const char *store_id);
/* How often threads have found something to do in the store; counted before they are not busy any more. */
int64_t forwarding_moved(struct forwarding *forwarding, const char *store_id);

/* Messages that were forwarded, all in all. */
int64_t forwarding_count(struct forwarding *forwarding);
/* The figures of the i-th route that there was; false = there is none. */
bool forwarding_read_stats(struct forwarding *forwarding, size_t i, boxcar_forward_stats *ret_stats);

#endif
