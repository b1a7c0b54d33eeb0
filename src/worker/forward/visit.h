/* A visit of a route: batch after batch, until there is no more, or for about a second. */
#ifndef BOXCAR_WORKER_FORWARD_VISIT_H
#define BOXCAR_WORKER_FORWARD_VISIT_H

#include "state.h"

enum visit_end {
    VISIT_EMPTY,   /* there is nothing more */
    VISIT_HELD_UP, /* somebody else claims */
    VISIT_MORE,    /* there may be more */
    VISIT_AWAY,    /* the destination fails as a whole */
    VISIT_UNKNOWN, /* the destination is no store of this worker */
    VISIT_SOURCE_AWAY,
    VISIT_GONE /* there is no such subscription any more */
};

struct visit {
    struct forwarding *forwarding;
    struct source *source;
    struct route *route;
    struct boxcar_store *store; /* the source's */
    int64_t began_ms, lease_ms;
    int64_t claimed_at_ms; /* the batch */
    bool is_away;          /* the destination failed: no further batch */
    bool has_worked;       /* the destination has taken something */
    int64_t next_pause_ms; /* of the destination, if it fails */
    bool found;            /* anything */
    boxcar_error err;      /* why it is away; of the source, why that is */

    /* Of ROUTE_STORE: the destination's connection. */
    struct boxcar_store *there;
    char *there_id;
    boxcar_store_options there_options;
    boxcar_box box_there;
    struct arena arena;
};

enum visit_end visit_run(struct visit *visit);

/* What becomes of a message of a batch. */
enum item_end {
    ITEM_SEND,    /* its copies are to be stored */
    ITEM_SENT,    /* they are: it is to be acked */
    ITEM_DONE,    /* it is acked, too */
    ITEM_ABANDON, /* an attempt is spent */
    ITEM_FAIL,    /* a dead letter */
    ITEM_DEFER    /* it goes back without an attempt */
};

struct item {
    const boxcar_message *source;
    boxcar_new_message *copies; /* one for each destination */
    size_t copy_count;
    boxcar_str key; /* of ROUTE_TENANT */
    enum item_end end;
    int64_t delay_ms;
    boxcar_str error;
};

struct batch {
    struct arena arena; /* of the copies and the errors */
    struct item *items; /* in the order of their work ids */
    size_t count;
};

/* ---- copy.c ---- */

/* The copies of a message, or what is wrong with it. */
boxcar_status copy_make(const struct route *route, const boxcar_message *message, struct arena *arena,
                        struct item *ret_item, boxcar_error *err);

/* ---- batch.c ---- */

boxcar_status batch_make(const struct visit *visit, const struct result *claimed, struct batch *ret_batch,
                         boxcar_error *err);
void batch_release(struct batch *batch);
void item_end(struct batch *batch, struct item *item, enum item_end end, int64_t delay_ms, const char *error);
/* What is behind a message of its stream that does not go now stays behind it. */
void batch_hold_streams(struct batch *batch);
/* All that were to be sent go back, without an attempt. */
void batch_put_off(struct batch *batch, int64_t delay_ms);

/* Sends some items: all of them or none. */
typedef boxcar_status send_fn(struct visit *visit, struct item *const *items, size_t count, void *context,
                              boxcar_error *err);
/* Sends these items, which are in order. It looks for those that are refused: they are abandoned, the others
 * go. Each of them ends as `taken`. An error: the store as a whole fails; what was not sent is still to be.
 */
boxcar_status batch_deliver(struct visit *visit, struct batch *batch, struct item **items, size_t count,
                            enum item_end taken, send_fn *send, void *context, boxcar_error *err);
/* Settles the batch, which may be empty, and claims the next one if claim_size > 0. with_copies: one request
 * stores the copies, too. */
boxcar_status batch_settle(struct visit *visit, const struct batch *batch, bool with_copies, int claim_size,
                           struct result *ret_result, boxcar_error *err);
/* Messages that come back after an answer was lost: their leases are old. */
boxcar_status batch_renew(struct visit *visit, const boxcar_message *messages, size_t count,
                          boxcar_error *err);
/* Before a call: while the worker stops, no call is waited for as long as usual. */
void visit_shorten(const struct visit *visit, struct boxcar_store *store);
/* What was acked counts as forwarded. */
void visit_count(const struct visit *visit, const struct result *result);
bool visit_is_over(const struct visit *visit);

/* ---- local.c, remote.c, scatter.c: each settles no more than it must ---- */

/* In one transaction with the acks. */
boxcar_status local_send(struct visit *visit, struct item *const *items, size_t count, void *context,
                         boxcar_error *err);
/* Its copies are there. */
boxcar_status local_ack(struct visit *visit, const struct item *item, boxcar_error *err);
boxcar_status scatter_deliver(struct visit *visit, struct batch *batch, boxcar_error *err);
int scatter_claim_size(const struct route *route);
/* Opens the destination of a ROUTE_STORE. false = it cannot be used now; visit->err says why. */
enum visit_end remote_open(struct visit *visit);
void remote_close(struct visit *visit);
void remote_deliver(struct visit *visit, struct batch *batch);
void tenant_deliver(struct visit *visit, struct batch *batch);
void tenants_free(struct route *route);

#endif
