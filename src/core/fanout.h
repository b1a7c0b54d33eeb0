/* Policies: where they forward to, and what a copy is called. Pure. */
#ifndef BOXCAR_CORE_FANOUT_H
#define BOXCAR_CORE_FANOUT_H

#include "base/arena.h"
#include "boxcar/error.h"
#include "boxcar/fanout.h"
#include "boxcar/types.h"

#define FANOUT_ALL "all" /* the route of a policy with then_topic is called POLICY/all */
#define FANOUT_PLACEHOLDER "{topic}"

enum destination_kind {
    DESTINATION_TOPIC, /* the outbox of this store */
    DESTINATION_STORE, /* a box of another store, by its name */
    DESTINATION_TENANT /* the outbox of the store that a header of the message names */
};

/* A destination, taken apart. Texts are borrowed. */
struct destination {
    enum destination_kind kind;
    boxcar_box box;    /* of the copies */
    boxcar_str topic;  /* of the copies, with {topic} in it; that alone: the message's own topic */
    boxcar_str store;  /* STORE: its name; else absent */
    boxcar_str header; /* TENANT: the name of the header; else absent */
};

/* Takes a destination apart. BOXCAR_E_INVALID names `argument` and what to give instead. */
boxcar_status destination_parse(boxcar_str text, const char *argument, struct destination *ret_destination,
                                boxcar_error *err);
/* The topic of the copy of a message, in the arena if it is not the message's own. BOXCAR_E_INVALID: it would
 * be too long. */
boxcar_status destination_topic(const struct destination *destination, boxcar_str topic, struct arena *arena,
                                boxcar_str *ret_topic, boxcar_error *err);

/* The name of a policy's subscription, POLICY/DESTINATION, in two parts. False: it is no such name. */
bool fanout_split_name(boxcar_str name, boxcar_str *ret_policy, boxcar_str *ret_destination);
/* The policy that the subscription belongs to; the whole name if it is none of a policy. Borrowed. */
boxcar_str fanout_policy_of(boxcar_str name);
/* Whether {topic} is in the destination. */
bool fanout_has_placeholder(boxcar_str destination);

/* The value of a header, in the arena; absent = the message does not have it. BOXCAR_E_INVALID: `headers` is
 * no JSON object. */
boxcar_status fanout_find_header(boxcar_str headers, boxcar_str name, struct arena *arena,
                                 boxcar_str *ret_value, boxcar_error *err);
/* How often a message was copied (0 to BOXCAR_HOPS_MAX), and the headers of the next copy, in the arena. A
 * count that is no number is 0, and a greater one is the greatest: both were written by somebody else. */
boxcar_status fanout_raise_hops(boxcar_str headers, struct arena *arena, int *ret_hops,
                                boxcar_str *ret_headers, boxcar_error *err);

/* Ids that derive from the policy and the source, so that forwarding again gives the same ones.
 * BOXCAR_E_NO_MEMORY. */
boxcar_status fanout_copy_id(boxcar_str policy, boxcar_str destination, boxcar_message_id source,
                             boxcar_message_id *ret_id, boxcar_error *err);
boxcar_status fanout_join_id(boxcar_str policy, boxcar_message_id source, boxcar_join_id *ret_id,
                             boxcar_error *err);
boxcar_status fanout_wait_id(boxcar_str policy, boxcar_message_id source, boxcar_message_id *ret_id,
                             boxcar_error *err);

#endif
