/* boxcar/fanout.h: policies that forward messages to other topics and other stores.
 *
 * A policy is kept in the store. It has topic patterns, as a subscription has, and destinations. Any worker that serves
 * the store forwards what matches (boxcar_worker_options.fanout); nobody writes a handler for it.
 *
 *     boxcar_new_fanout copies = BOXCAR_NEW_FANOUT_INIT;
 *     const boxcar_str topics[] = {BOXCAR_STR("orders.*")};
 *     const boxcar_str destinations[] = {BOXCAR_STR("audit.{topic}"), BOXCAR_STR("store:search/inbox")};
 *     copies.name = BOXCAR_STR("copies");
 *     copies.patterns = topics;
 *     copies.pattern_count = 1;
 *     copies.destinations = destinations;
 *     copies.destination_count = 2;
 *     boxcar_fanout_add(store, &copies, &err);
 *
 * A destination is one of these:
 *
 *     TOPIC                       the outbox of this store. {topic} in it stands for the topic of the message
 *     store:NAME                  the outbox of another store, with the topic as it is. NAME is how the worker that
 *                                 forwards calls that store: the key of boxcar_store_entry
 *     store:NAME/TOPIC            with another topic, which may contain {topic}
 *     store:NAME/inbox            its inbox, with the topic as it is
 *     store:NAME/inbox/TOPIC      its inbox, with another topic
 *     tenant:HEADER               the outbox of the store whose key is the value of this header of the message
 *
 * Each destination is a subscription of its own, called POLICY/DESTINATION, with leases, retries, dead letters and lag of
 * its own: a slow or broken one holds back no other. Every call of boxcar/subscription.h that takes a name takes this one,
 * too, but for removing it.
 *
 * The message id of a copy derives from the policy, the destination and the message. Into the same store, copy and ack
 * are one transaction. In another store a copy that comes again is a duplicate, and nothing happens. */
#ifndef BOXCAR_FANOUT_H
#define BOXCAR_FANOUT_H

#include "error.h"
#include "store.h"
#include "subscription.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BOXCAR_DESTINATION_COUNT_MAX 100
/* A policy and a destination: POLICY/DESTINATION is the name of a subscription. */
#define BOXCAR_FANOUT_NAME_MAX (BOXCAR_SUBSCRIPTION_NAME_MAX - 2) /* characters */

/* How many policies a message may pass. One that has passed so many becomes a dead letter of the next policy. The header
 * BOXCAR_HOPS_HEADER of a copy has the number. */
#define BOXCAR_HOPS_MAX 16
#define BOXCAR_HOPS_HEADER "boxcar-hops"

typedef struct boxcar_new_fanout {
    size_t struct_size;
    boxcar_str name; /* as that of a subscription, and none of them has it */
    boxcar_box box;  /* whose messages: BOXCAR_OUTBOX or BOXCAR_INBOX */
    const boxcar_str *patterns; /* 1 to 100 */
    size_t pattern_count;
    const boxcar_str *destinations; /* 1 to 100, each once */
    size_t destination_count;
    boxcar_start start;     /* BOXCAR_START_END, _BEGINNING or _TIME */
    boxcar_time start_time; /* for BOXCAR_START_TIME */
    bool only;              /* the main reader does not get these messages any more */
    boxcar_str then_topic;  /* scatter and gather: all copies of a message are stored in one transaction as the steps of a
                               join, and when all of them are done, a message with this topic and the message's payload is
                               enqueued. Every destination is a topic of this store. Absent = no join */
    boxcar_str else_topic;  /* instead of then_topic, if a step failed; absent = nothing is enqueued then */
} boxcar_new_fanout;

#ifdef __cplusplus
#define BOXCAR_NEW_FANOUT_INIT (boxcar_new_fanout{sizeof(boxcar_new_fanout), {0, 0}, BOXCAR_OUTBOX, 0, 0, 0, 0, \
    BOXCAR_START_END, BOXCAR_TIME_NONE, false, {0, 0}, {0, 0}})
#else
#define BOXCAR_NEW_FANOUT_INIT ((boxcar_new_fanout){ \
    .struct_size = sizeof(boxcar_new_fanout), .start_time = BOXCAR_TIME_NONE})
#endif

/* Makes a policy. BOXCAR_E_CONFLICT: the name is taken, or messages would go round in a circle: a copy would match this
 * policy again, or through others come back to it. What is forwarded to other stores cannot be seen here; that is what
 * BOXCAR_HOPS_MAX is for. */
BOXCAR_API boxcar_status boxcar_fanout_add(boxcar_store *store, const boxcar_new_fanout *fanout, boxcar_error *err);

/* All destinations at once, as the calls of boxcar/subscription.h do it for one. BOXCAR_E_NOT_FOUND: there is no such
 * policy. After a rewind only those copies are stored that the destination does not know (any more). */
BOXCAR_API boxcar_status boxcar_fanout_pause(boxcar_store *store, boxcar_str name, boxcar_error *err);
BOXCAR_API boxcar_status boxcar_fanout_resume(boxcar_store *store, boxcar_str name, boxcar_error *err);
BOXCAR_API boxcar_status boxcar_fanout_rewind(boxcar_store *store, boxcar_str name, const boxcar_place *place,
                                              int64_t *ret_count, boxcar_error *err);
BOXCAR_API boxcar_status boxcar_fanout_remove(boxcar_store *store, boxcar_str name, bool force, boxcar_error *err);

/* ---- looking ---- */

/* A policy with the subscriptions that do its work: one for each destination, or, with then_topic, one for all of them,
 * called POLICY/all. Everything is lent by the list. */
typedef struct boxcar_fanout {
    boxcar_str name;
    boxcar_box box;
    const boxcar_str *patterns;
    size_t pattern_count;
    boxcar_str then_topic, else_topic; /* absent = none */
    const boxcar_subscription *const *routes; /* in the order of their names. Each has its destinations */
    size_t route_count;
} boxcar_fanout;

typedef struct boxcar_fanout_list {
    const boxcar_fanout *const *items;
    size_t count;
} boxcar_fanout_list;

/* One policy, or all of them by name if `name` is absent. BOXCAR_E_NOT_FOUND: there is none of that name. The caller owns
 * *ret_list. */
BOXCAR_API boxcar_status boxcar_fanout_read(boxcar_store *store, boxcar_str name, boxcar_fanout_list **ret_list,
                                            boxcar_error *err);

#ifdef __cplusplus
}
#endif
#endif
