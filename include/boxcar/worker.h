/* boxcar/worker.h: a worker claims messages, runs handlers on threads, and settles by their verdicts.
 *
 * One thread of the worker talks to the store: it sends results and brings new work back in the same round
 * trip, for the outbox and the inbox alike. Handlers run on threads of their own, `concurrency` at a time.
 * The worker renews the leases of all messages that it holds, retries with a backoff, makes dead letters of
 * messages that cannot be done, survives an outage of its database, and stops cleanly.
 *
 *     boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
 *     options.store = &store_options;
 *     boxcar_worker_new(&options, &worker, &err);
 *     boxcar_worker_on(worker, BOXCAR_STR("orders.*"), on_order, NULL, &err);
 *     boxcar_worker_run(worker, &err);      until boxcar_worker_stop()
 *     boxcar_worker_free(worker);
 *
 * Threads: call boxcar_worker_run() once, from one thread. While it runs, any thread may call
 * boxcar_worker_stop(), boxcar_worker_reconfigure() and the functions that read. A signal handler may
 * call boxcar_worker_stop(). Call all other functions before boxcar_worker_run() starts or after it has
 * returned. The log function of the store options is called from several threads at once. */
#ifndef BOXCAR_WORKER_H
#define BOXCAR_WORKER_H

#include "backoff.h"
#include "error.h"
#include "fleet.h"
#include "message.h"
#include "store.h"
#include "strategy.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct boxcar_worker boxcar_worker;

/* One message that a handler works on: lent for the call; only the thread of the call may use it. */
typedef struct boxcar_delivery boxcar_delivery;

/* The answer of a handler: how to settle its message. */
typedef enum boxcar_verdict {
    BOXCAR_VERDICT_ACK = BOXCAR_ACK,       /* done */
    BOXCAR_VERDICT_RETRY = BOXCAR_ABANDON, /* one attempt spent; again after the backoff, or dead when all
                                              attempts are used up */
    BOXCAR_VERDICT_DEFER = BOXCAR_DEFER,   /* later, no attempt spent: rate limits, an open circuit */
    BOXCAR_VERDICT_FAIL = BOXCAR_FAIL      /* will never work: a dead letter at once */
} boxcar_verdict;

/* May run on several threads at once, for different messages. Deliveries can repeat after
 * crashes: make it idempotent, or use boxcar_delivery_begin(). */
typedef boxcar_verdict (*boxcar_handler_fn)(void *context, boxcar_delivery *delivery);

/* The message, payload included. */
BOXCAR_API const boxcar_message *boxcar_delivery_message(const boxcar_delivery *delivery);

/* Whether to stop: the time for this handler is over, the worker is stopping and its grace time ends, or the
 * lease was lost and another worker may run the message already. The worker gives up a handler that goes on
 * long after that: its verdict no longer counts. */
BOXCAR_API bool boxcar_delivery_is_cancelled(const boxcar_delivery *delivery);

/* The same as a file descriptor that becomes readable (for poll()): do not read or close it.
 * -1 when there is none. */
BOXCAR_API int boxcar_delivery_cancel_fd(const boxcar_delivery *delivery);

/* The reason for the verdicts retry and fail, kept as last_error: cut at 4 KiB; bytes that are not UTF-8 are
 * replaced. The last call counts; the text is copied. It must not contain payloads: where it repeats the
 * message's payload, or 16 bytes or more of it, "[payload]" is written instead. */
BOXCAR_API void boxcar_delivery_set_error(boxcar_delivery *delivery, boxcar_str text);

/* When to try again, with the verdicts retry (instead of the backoff) and defer (default: one
 * second). A value out of range is clamped to 0 or BOXCAR_DELAY_MS_MAX. */
BOXCAR_API void boxcar_delivery_set_delay_ms(boxcar_delivery *delivery, int64_t delay_ms);

/* Opens a transaction in which the handler's own writes and the ack happen together. With the verdict ack,
 * the worker acks the message in this transaction and commits. With any other verdict, or when the lease was
 * lost, the worker rolls back. *ret_store is lent for the call. Everything done on it is part of the
 * transaction: boxcar_enqueue(), and your own statements on the connection that boxcar_store_sqlite_handle()
 * or boxcar_store_postgres_handle() lends (sqlite.h, postgres.h). Never end the transaction yourself. A
 * second call lends the same store.
 *
 * SQLite has one writer, and all others wait for it: keep such a handler short. */
BOXCAR_API boxcar_status boxcar_delivery_begin(boxcar_delivery *delivery, boxcar_store **ret_store,
                                               boxcar_error *err);

/* Records that these stages of the message are done (boxcar_stage flags), in addition to those in the
 * `stages` of boxcar_delivery_message(). If this attempt fails, the next one sees them. They are stored with
 * the worker's next round trip, at the latest with the verdict, and take effect before it. BOXCAR_E_INVALID:
 * an unknown flag. */
BOXCAR_API boxcar_status boxcar_delivery_record_stages(boxcar_delivery *delivery, int stages, boxcar_error *err);

/* Ranges and defaults. */
#define BOXCAR_CONCURRENCY_DEFAULT 4
#define BOXCAR_CONCURRENCY_MAX 1024
#define BOXCAR_POLL_MS_DEFAULT 500
#define BOXCAR_POLL_MS_MIN 1
#define BOXCAR_POLL_MS_MAX (INT64_C(60) * 60 * 1000)
#define BOXCAR_HANDLER_TIMEOUT_MS_DEFAULT (INT64_C(5) * 60 * 1000)
#define BOXCAR_HANDLER_TIMEOUT_MS_MAX (INT64_C(24) * 60 * 60 * 1000)
#define BOXCAR_GRACE_MS_DEFAULT 30000
#define BOXCAR_GRACE_MS_MAX (INT64_C(24) * 60 * 60 * 1000)
#define BOXCAR_MAINTAIN_MS_DEFAULT 60000
#define BOXCAR_MAINTAIN_MS_MAX (INT64_C(24) * 60 * 60 * 1000)
#define BOXCAR_FLUSH_INTERVAL_MS_MAX 10000
#define BOXCAR_FLUSH_SIZE_MAX 10000
#define BOXCAR_BATCH_LIMIT_DEFAULT 1000

typedef struct boxcar_worker_options {
    size_t struct_size;
    const boxcar_store_options *store; /* where to work; copied */
    boxcar_owner owner;         /* none = a new one; no two workers may share one */
    int concurrency;            /* handlers at a time, 1 to 1,024 */
    int batch_size;             /* most that one claim brings at first, 1 to 10,000; see batch_limit */
    int64_t lease_ms;           /* 100 ms to 24 h; renewed while the worker lives */
    int64_t poll_ms;            /* longest pause between looks for work, 1 ms to 1 h */
    int64_t handler_timeout_ms; /* after this time the handler is cancelled, and given up some
                                   seconds later; 0 = no limit */
    int64_t grace_ms;           /* how long handlers may go on after boxcar_worker_stop() */
    int64_t maintain_ms;        /* between rounds of upkeep (boxcar_maintenance_run); 0 = none */
    bool drain;                 /* stop by itself when no message that it handles is ready, leased or
                                   backing off */
    bool fail_unhandled;        /* make a dead letter of a claimed message that has no handler; off:
                                   give it back */
    const boxcar_backoff_policy *backoff; /* NULL = the store's settings; copied. With
                                             curve.base_ms = -1 topics without a curve of
                                             their own are left to the store's settings. A
                                             decide function runs on the worker's thread */
    boxcar_strategy strategy;   /* when verdicts are stored: immediate = at once; interval = after
                                   flush_interval_ms at most; size = the same, or as soon as there are
                                   flush_size of them. Any other round trip takes them along sooner.
                                   Workers do not support scoped */
    int64_t flush_interval_ms;  /* 1 ms to 10 s */
    int flush_size;             /* 1 to 10,000 */
    int64_t batch_bytes;        /* 1 KiB to 1 GiB: a claim takes no further message once payloads, headers and
                                   metadata have this many bytes together */
    int batch_limit;            /* 1 to 10,000: how far batches of quick messages grow while claims come
                                   back full. If it is not above batch_size, batches do not grow */
    const boxcar_fleet_options *fleet; /* many stores (boxcar/fleet.h); NULL = the one of `store`. Copied. The
                                          url of `store` does not count then, all else of it does */
    boxcar_str subscription;    /* work for this subscription (boxcar/subscription.h) instead of the main
                                   readers: all handlers are for its box. In a fleet: for the one of this
                                   name in each store. Absent = the main readers */
    bool fanout;                /* do what the policies and schedules of the store say (boxcar/fanout.h,
                                   boxcar/schedule.h), on threads and connections of its own, besides the handlers. A
                                   worker for a subscription does not */
} boxcar_worker_options;

#ifdef __cplusplus
#define BOXCAR_WORKER_OPTIONS_INIT (boxcar_worker_options{sizeof(boxcar_worker_options), 0, {{{0}}}, \
    BOXCAR_CONCURRENCY_DEFAULT, 50, 30000, BOXCAR_POLL_MS_DEFAULT, BOXCAR_HANDLER_TIMEOUT_MS_DEFAULT, \
    BOXCAR_GRACE_MS_DEFAULT, BOXCAR_MAINTAIN_MS_DEFAULT, false, false, 0, BOXCAR_STRATEGY_IMMEDIATE, \
    BOXCAR_INTERVAL_MS_DEFAULT, BOXCAR_FLUSH_SIZE_DEFAULT, INT64_C(64) << 20, BOXCAR_BATCH_LIMIT_DEFAULT, 0, {0, 0}, true})
#else
#define BOXCAR_WORKER_OPTIONS_INIT ((boxcar_worker_options){.struct_size = sizeof(boxcar_worker_options), \
    .concurrency = BOXCAR_CONCURRENCY_DEFAULT, .batch_size = 50, .lease_ms = 30000, \
    .poll_ms = BOXCAR_POLL_MS_DEFAULT, .handler_timeout_ms = BOXCAR_HANDLER_TIMEOUT_MS_DEFAULT, \
    .grace_ms = BOXCAR_GRACE_MS_DEFAULT, .maintain_ms = BOXCAR_MAINTAIN_MS_DEFAULT, \
    .flush_interval_ms = BOXCAR_INTERVAL_MS_DEFAULT, .flush_size = BOXCAR_FLUSH_SIZE_DEFAULT, \
    .batch_bytes = INT64_C(64) << 20, .batch_limit = BOXCAR_BATCH_LIMIT_DEFAULT, .fanout = true})
#endif

/* Makes a worker; nothing is opened yet. The caller owns *ret_worker. */
BOXCAR_API boxcar_status boxcar_worker_new(const boxcar_worker_options *options, boxcar_worker **ret_worker,
                                           boxcar_error *err);

typedef enum boxcar_handler_kind {
    BOXCAR_HANDLER_FUNCTION = 0, /* `run` */
    BOXCAR_HANDLER_EXEC = 1,     /* the program `command` */
    BOXCAR_HANDLER_DISCARD = 2   /* acks at once: drops a topic on purpose, and serves load tests */
} boxcar_handler_kind;

/* The handler of a topic. Start from BOXCAR_HANDLER_INIT. Everything is copied except the context. */
typedef struct boxcar_handler {
    size_t struct_size;
    boxcar_box box;
    boxcar_str topic; /* exact, or ending in * for a prefix. The longest match wins */
    boxcar_handler_kind kind;
    boxcar_handler_fn run;
    void *context;
    boxcar_str command; /* a program and its arguments, split into words (quotes work, there is no shell). It
                           gets the payload on standard input and BOXCAR_ variables in a clean environment.
                           Exit 0 is ack, 65 fail, anything else retry; the tail of its standard error becomes
                           the last error. See docs/worker.md */
} boxcar_handler;

#ifdef __cplusplus
#define BOXCAR_HANDLER_INIT (boxcar_handler{sizeof(boxcar_handler), BOXCAR_OUTBOX, {0, 0}, BOXCAR_HANDLER_FUNCTION, 0, 0, {0, 0}})
#else
#define BOXCAR_HANDLER_INIT ((boxcar_handler){.struct_size = sizeof(boxcar_handler)})
#endif

/* Registers a handler. A worker claims only from the boxes that it has handlers for, from both in one round
 * trip. A topic may have a handler in each box; a second handler for the same pattern in the same box is
 * BOXCAR_E_CONFLICT. */
BOXCAR_API boxcar_status boxcar_worker_handle(boxcar_worker *worker, const boxcar_handler *handler, boxcar_error *err);

/* The common case: a function for a topic of the outbox. */
static inline boxcar_status boxcar_worker_on(boxcar_worker *worker, boxcar_str topic, boxcar_handler_fn run,
                                             void *context, boxcar_error *err) {
    boxcar_handler handler = BOXCAR_HANDLER_INIT;

    handler.topic = topic;
    handler.run = run;
    handler.context = context;
    return boxcar_worker_handle(worker, &handler, err);
}

/* Works until boxcar_worker_stop(), or with `drain` until there is nothing left to do. With many stores (`fleet`)
 * only a list that cannot be made fails at once, and a store that cannot be used is tried again; a drain gives up
 * such a store after a few tries and ends with BOXCAR_E_UNAVAILABLE. Else it fails at once when the
 * store cannot be opened. If the store becomes unavailable later, the worker waits until it is back. Without
 * handlers it evaluates waits for joins, does upkeep, and forwards (`fanout`). BOXCAR_OK after a clean end; BOXCAR_E_UNAVAILABLE
 * when results could not be stored within the grace time (those messages are delivered again). */
BOXCAR_API boxcar_status boxcar_worker_run(boxcar_worker *worker, boxcar_error *err);

/* Stops the worker: it claims no more, lets handlers finish within the grace time, and gives back messages
 * that it has not started. Then boxcar_worker_run() returns. A second call cancels the handlers and ends the
 * grace time now. Safe in a signal handler. */
BOXCAR_API void boxcar_worker_stop(boxcar_worker *worker);

/* Changes options while the worker runs: concurrency, batch_size, batch_limit, batch_bytes, lease_ms,
 * poll_ms, handler_timeout_ms, grace_ms, maintain_ms, fail_unhandled, backoff, strategy, flush_interval_ms,
 * flush_size, and log_level of `store`. Other options are ignored. If a value is out of range, nothing
 * changes. */
BOXCAR_API boxcar_status boxcar_worker_reconfigure(boxcar_worker *worker, const boxcar_worker_options *options,
                                                   boxcar_error *err);

/* Frees a worker that does not run; NULL is fine. */
BOXCAR_API void boxcar_worker_free(boxcar_worker *worker);

/* The owner of its leases. */
BOXCAR_API boxcar_owner boxcar_worker_owner(const boxcar_worker *worker);

typedef enum boxcar_worker_state {
    BOXCAR_WORKER_IDLE = 0,     /* not started */
    BOXCAR_WORKER_STARTING = 1, /* opening the store */
    BOXCAR_WORKER_RUNNING = 2,
    BOXCAR_WORKER_DETACHED = 3, /* the store cannot be used now; trying again */
    BOXCAR_WORKER_STOPPING = 4,
    BOXCAR_WORKER_STOPPED = 5
} boxcar_worker_state;

BOXCAR_API const char *boxcar_worker_state_name(boxcar_worker_state state);

/* What the worker has done since it started, and what it holds now. */
typedef struct boxcar_worker_stats {
    size_t struct_size;
    boxcar_worker_state state;
    int64_t loop_age_ms;    /* since the last turn of the work loop: grows when the loop is stuck */
    int64_t queued;         /* claimed and not started */
    int64_t running;        /* in handlers now */
    int64_t concurrency;
    int64_t claims;         /* round trips that asked for work */
    int64_t claimed;        /* messages */
    int64_t given_back;     /* messages that the worker gave back unstarted: at a stop, or because it had too many */
    int64_t unhandled;      /* messages claimed without a handler for them */
    int64_t leases_renewed; /* messages */
    int64_t leases_lost;    /* messages whose lease another owner has, or that were settled too late */
    int64_t reaped;         /* by upkeep */
    int64_t store_errors;   /* calls to the store that failed */
    int64_t detachments;    /* times the store went away */
    int64_t handlers_abandoned; /* threads given up because their handler did not stop */
    int64_t held_up;        /* claims that did not get the turn in time, because another session keeps it
                               (PostgreSQL) */
} boxcar_worker_stats;

#ifdef __cplusplus
#define BOXCAR_WORKER_STATS_INIT (boxcar_worker_stats{sizeof(boxcar_worker_stats), BOXCAR_WORKER_IDLE, \
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
#else
#define BOXCAR_WORKER_STATS_INIT ((boxcar_worker_stats){.struct_size = sizeof(boxcar_worker_stats)})
#endif

/* Fills *ret_stats, whose struct_size must be set. Any thread. */
BOXCAR_API void boxcar_worker_stats_read(boxcar_worker *worker, boxcar_worker_stats *ret_stats);

/* The histogram of handler times. The i-th bucket counts the calls that took at most the returned number of
 * seconds; the last bucket has no bound (infinity). */
#define BOXCAR_HANDLER_BUCKETS 15
BOXCAR_API double boxcar_handler_bucket_seconds(size_t i);

typedef struct boxcar_handler_stats {
    size_t struct_size;
    boxcar_str topic; /* the pattern; lent by the worker */
    int64_t running;
    int64_t acked, retried, failed, deferred; /* verdicts that took effect; see `dead` */
    int64_t lost;      /* verdicts that came too late */
    int64_t timed_out; /* handlers cancelled for their time */
    double seconds;    /* in the handler, the sum over all calls */
    int64_t buckets[BOXCAR_HANDLER_BUCKETS]; /* calls per bucket, each call in one bucket only */
    boxcar_box box;    /* whose messages it handles */
    int64_t dead;      /* retries that were the last: dead letters (exhausted), not among `retried` */
    boxcar_box reader; /* whose deliveries they are: the box, or the number of the worker's subscription. -1: a
                          subscription in a fleet, where each store has a number of its own for it */
} boxcar_handler_stats;

#ifdef __cplusplus
#define BOXCAR_HANDLER_STATS_INIT (boxcar_handler_stats{sizeof(boxcar_handler_stats), {0, 0}, 0, 0, 0, 0, \
    0, 0, 0, 0, {0}, BOXCAR_OUTBOX, 0, BOXCAR_OUTBOX})
#else
#define BOXCAR_HANDLER_STATS_INIT ((boxcar_handler_stats){.struct_size = sizeof(boxcar_handler_stats)})
#endif

/* The figures of the i-th handler, in the order in which handlers were registered. The last one is the
 * built-in handler for waits of joins (boxcar/join.h). false = there is no i-th handler. Any thread. */
BOXCAR_API bool boxcar_worker_handler_stats_read(boxcar_worker *worker, size_t i, boxcar_handler_stats *ret_stats);

/* What a worker has forwarded for one route: a policy's subscription, POLICY/DESTINATION or POLICY/all. */
typedef struct boxcar_forward_stats {
    size_t struct_size;
    const char *store_id; /* of the store with the policy; lent by the worker, as the route */
    boxcar_str route;     /* beyond the first 200 routes: "(others)", with the store id "" */
    int64_t forwarded;    /* messages */
    int64_t failures;     /* tries of messages that were refused, and of destinations that were away */
    bool is_away;         /* its destination cannot be used now */
} boxcar_forward_stats;

#ifdef __cplusplus
#define BOXCAR_FORWARD_STATS_INIT (boxcar_forward_stats{sizeof(boxcar_forward_stats), 0, {0, 0}, 0, 0, false})
#else
#define BOXCAR_FORWARD_STATS_INIT ((boxcar_forward_stats){.struct_size = sizeof(boxcar_forward_stats)})
#endif

/* The figures of the i-th route, in the order in which the worker came to know them. false = there is no i-th
 * route. Any thread. */
BOXCAR_API bool boxcar_worker_forward_stats_read(boxcar_worker *worker, size_t i, boxcar_forward_stats *ret_stats);

/* The stores of a worker with many, in their order; free it with boxcar_list_free(). Empty for a worker with
 * one store. Any thread, while boxcar_worker_run() runs or after it. */
BOXCAR_API boxcar_status boxcar_worker_fleet_read(boxcar_worker *worker, boxcar_fleet_store_list **ret_list,
                                                  boxcar_error *err);

#ifdef __cplusplus
}
#endif
#endif
