/* What is logged about joins, whoever finds it out: the public functions and the worker. */
#ifndef BOXCAR_STORE_JOIN_LOG_H
#define BOXCAR_STORE_JOIN_LOG_H

#include "store.h"

/* INFO, "join_end": each of these has ended (JOIN-072). */
void join_log_ended(const struct boxcar_store *store, const boxcar_join *joins, size_t count);
/* DEBUG, "join_attach": a message became a member (JOIN-071). */
void join_log_attached(const struct boxcar_store *store, boxcar_join_id join_id, boxcar_message_id message_id);

#endif
