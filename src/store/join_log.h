/* Log records about joins, for the public functions and the worker. */
#ifndef BOXCAR_STORE_JOIN_LOG_H
#define BOXCAR_STORE_JOIN_LOG_H

#include "store.h"

/* INFO, "join_end": each of these has ended (JOIN-072). In a transaction that spans calls it is the commit
 * that logs them, each once, however often they are given here. */
void join_log_ended(struct boxcar_store *store, const boxcar_join *joins, size_t count);
/* For begin, commit and rollback of the stores. Releasing logs what was held, or forgets it; also for a store
 * that is closed. */
void join_log_hold(struct boxcar_store *store);
void join_log_release(struct boxcar_store *store, bool committed);
/* Adds a copy without texts. */
boxcar_status ended_list_add(struct ended_list *list, const boxcar_join *join, boxcar_error *err);
/* DEBUG, "join_attach": a message became a member (JOIN-071). */
void join_log_attached(const struct boxcar_store *store, boxcar_join_id join_id,
                       boxcar_message_id message_id);

#endif
