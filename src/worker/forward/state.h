/* What forwarding knows: sources with routes, the threads, the connections that nobody uses now. The files of
 * this folder share it.
 *
 * One mutex guards all of it. The thread that visits a route has the route's own members to itself, until it
 * says how the visit ended. Texts of a route never change; those of a source do not while it is visited. */
#ifndef BOXCAR_WORKER_FORWARD_STATE_H
#define BOXCAR_WORKER_FORWARD_STATE_H

#include <pthread.h>

#include "breaker.h"
#include "forward.h"

#define FORWARD_THREADS 4
#define FORWARD_REMOTE_THREADS (FORWARD_THREADS - 1)
#define FORWARD_BATCH 1000
#define FORWARD_BYTES_MAX (INT64_C(16) << 20)
#define FORWARD_CALL_MS 5000      /* the longest that one call may wait for a store */
#define FORWARD_TRIES 3           /* what fails so often is away: worth a line, and nothing to wait for */
#define FORWARD_LEASE_MS 30000    /* at least: a destination may be silent for several calls */
#define FORWARD_CALL_LAST_MS 1000 /* of a worker that stops */
#define FORWARD_VISIT_MS 1000     /* then another route has its turn */

enum route_kind { ROUTE_LOCAL, ROUTE_STORE, ROUTE_TENANT, ROUTE_SCATTER };

/* The figures of a route; they stay when it goes. */
struct route_stats {
    struct route_stats *next;
    char *store_id, *name;
    _Atomic int64_t forwarded, failures;
    _Atomic bool is_away;
};

/* A store that messages of a route of tenants go to, while it fails. */
struct tenant {
    struct tenant *next;
    char *key;
    struct breaker breaker;
};

struct route {
    struct route *next;
    struct source *source;
    struct arena arena; /* of the texts; the route is in it itself */
    boxcar_str name, policy;
    boxcar_box reader, box;
    const boxcar_str *destinations;
    size_t destination_count;
    boxcar_str then_topic, else_topic;
    enum route_kind kind;
    struct route_stats *stats;

    /* Under the mutex. */
    bool is_paused, is_offered;
    bool is_gone; /* freed when nobody visits it */
    bool is_busy;
    bool waits;       /* the last look found nothing, and nothing has arrived since */
    bool is_unknown;  /* its destination is no store of this worker */
    bool is_refusing; /* its destination can be opened, and takes no copies */
    bool was_in_vain; /* it was poked, and found nothing */
    bool was_poked;   /* since the last look began */
    int64_t deaf_ms, looked_at_ms;
    int64_t next_look_ms, pause_ms;
    struct breaker breaker; /* of the destination */
    struct breaker trouble; /* of what it asks of its own store */
    bool is_refused;        /* the store answered then */
    _Atomic int away_tenants;

    /* Of the thread that visits it. */
    struct tenant *tenants;
    bool may_hold; /* messages of a batch whose end is not known */
};

struct source {
    struct source *next;
    char *id;
    struct arena arena;           /* of the options */
    boxcar_store_options options; /* for connections of its own */
    struct boxcar_store logger;   /* no store: for log records of any thread */
    int64_t lease_ms, poll_ms, batch_bytes;
    struct boxcar_worker *awake; /* its loop; NULL = it rests */
    int busy;                    /* threads that visit */
    int64_t moved;               /* visits that found something */
    bool is_gone;
    struct breaker breaker; /* of the store itself */
    bool is_away_told;      /* in the log */
    int failures_alone;     /* in a row, while its loop could use it */
    int64_t detachments;    /* of the loop, when they were counted */
    struct route *routes;
    struct {
        bool is_wanted, is_busy;
        int64_t next_ms;
        struct breaker breaker;
        boxcar_time due_at; /* as the store said */
        int64_t look_ms;    /* the pause while the lease is ours, at most; 0 = it is not */
        int64_t fence;      /* of the thread that plans */
    } plan;
};

/* A connection that nobody uses now. */
struct pooled {
    struct pooled *next;
    char *id;
    struct boxcar_store *store;
    int64_t since_ms;
};

struct forwarding {
    struct boxcar_worker *worker;
    boxcar_owner owner; /* of the leases: not that of the handlers, which goes with its loop */
    forward_locate_fn *locate;
    forward_arrived_fn *arrived;
    void *stores; /* their context */
    _Atomic bool stopping;
    _Atomic int64_t forwarded;

    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned random;
    pthread_t threads[FORWARD_THREADS];
    size_t thread_count;
    int busy_remote; /* threads that may wait long for a store */
    bool is_short;   /* of threads, and that was logged */
    struct source *sources;
    struct pooled *pool;
    size_t pool_count;
    struct route_stats *stats;
    size_t stats_count;
};

/* ---- routes.c: under the mutex ---- */

struct source *source_find(const struct forwarding *forwarding, const char *store_id);
struct route *route_find(const struct source *source, boxcar_box reader);
void route_free(struct route *route);
void source_free(struct source *source);
/* Frees what is gone and not visited. */
void routes_sweep(struct forwarding *forwarding);
/* Its loop can use the store, and forwarding could not several times. */
bool source_fails_alone(const struct source *source);
double forwarding_chance(struct forwarding *forwarding);
/* In how many ms a route that found nothing is looked at again at the latest. */
int64_t route_longest_pause_ms(const struct source *source);

/* ---- threads.c: under the mutex ---- */

/* As many threads as there is to do, up to the most. */
void threads_hire(struct forwarding *forwarding);

/* ---- pool.c: takes the mutex ---- */

/* A connection to a store, of the pool or new. *ret_is_used: of the pool, so that it may be broken. The
 * options' call times are shortened. */
boxcar_status pool_take(struct forwarding *forwarding, const boxcar_store_options *options, const char *id,
                        struct boxcar_store **ret_store, bool *ret_is_used, boxcar_error *err);
/* Back to the pool, or closed if it is no good. NULL is fine. */
void pool_give(struct forwarding *forwarding, struct boxcar_store *store, const char *id, bool is_good);
/* Closes what was not used for a while; when to do so again. Under the mutex, which it releases meanwhile. */
int64_t pool_expire(struct forwarding *forwarding, int64_t now_ms);
void pool_close(struct forwarding *forwarding);

/* ---- planning.c ---- */

/* Plans the slices of a source that are due. Without the mutex. false = the store could not be asked. A fence
 * that is not that of the lease any more: *ret_planned has the fence 0, and it is time to plan again. */
bool planning_visit(struct forwarding *forwarding, const struct source *source, boxcar_planned *ret_planned,
                    boxcar_error *err);
/* When the threads have ended: the leases of this planner end at once, so that the next one need not wait. */
void planning_end(struct forwarding *forwarding);
/* What that means for the next time. Under the mutex. */
void planning_take(struct source *source, const boxcar_planned *planned, int64_t now_ms);
/* Something is due at that time: it is planned then, if not before. Under the mutex. */
void planning_hear(struct source *source, boxcar_time due_at, int64_t now_ms);
/* Rules without clocks: how long to wait after a plan that says that something is due in so many ms, and how
 * long at most while the lease is ours. A source whose loop rests is left alone until something is due. */
int64_t planning_pause_ms(const struct source *source, const boxcar_planned *planned, int64_t due_in_ms);
int64_t planning_look_ms(const struct source *source, const boxcar_planned *planned);

/* ---- stats.c: under the mutex ---- */

struct route_stats *route_stats_of(struct forwarding *forwarding, const char *store_id, boxcar_str name);
void route_stats_free(struct forwarding *forwarding);

#endif
