/* Enqueueing. */
#ifndef BOXCAR_STORE_SQLITE_MESSAGE_ENQUEUE_H
#define BOXCAR_STORE_SQLITE_MESSAGE_ENQUEUE_H

#include "store/sqlite/join/join.h"
#include "store/sqlite/state.h"

/* The request's messages of the outbox. */
boxcar_status sqlite_enqueue(struct sqlite_store *store, const struct request *request, struct result *result,
                             boxcar_error *err);
/* One message, or what is there already. */
boxcar_status sqlite_enqueue_one(struct sqlite_store *store, boxcar_box box,
                                 const boxcar_new_message *message, boxcar_enqueued *ret_enqueued,
                                 boxcar_error *err);
/* As sqlite_enqueue_one(), for a message whose event the caller has appended. */
boxcar_status sqlite_enqueue_of_event(struct sqlite_store *store, const boxcar_new_message *message,
                                      boxcar_enqueued *ret_enqueued, boxcar_error *err);
/* As sqlite_enqueue_one(), but parked at once. */
boxcar_status sqlite_enqueue_aside(struct sqlite_store *store, boxcar_box box,
                                   const boxcar_new_message *message, boxcar_enqueued *ret_enqueued,
                                   boxcar_error *err);

/* ---- message by message in one transaction: begin once, then one after the other ---- */
struct enqueueing {
    boxcar_box box;
    int64_t last_id;  /* the highest work id in use */
    boxcar_str waits; /* the topic of waits for joins, which are parked at once */
    bool aside;       /* parked at once, whatever the message says */
    bool straight; /* streamed messages stay in the log; else there may be programs that do not know that */
    bool are_events_stored; /* the caller has appended the events that the messages are */
    bool expected;          /* some members of joins name messages that are not enqueued yet */
    struct attaching join;  /* the one that the last message was attached to */
};

/* `fresh`: the library made the ids just now, so no join can have them as members yet. */
boxcar_status sqlite_enqueue_begin(struct sqlite_store *store, boxcar_box box, bool fresh,
                                   struct enqueueing *enqueueing, boxcar_error *err);
/* key: NULL or without an id = none. */
boxcar_status sqlite_enqueue_next(struct sqlite_store *store, struct enqueueing *enqueueing,
                                  const boxcar_new_message *message, const struct message_key *key,
                                  boxcar_enqueued *enqueued, boxcar_error *err);

#endif
