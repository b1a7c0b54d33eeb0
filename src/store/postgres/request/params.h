/* How the parts of a request are laid out as parameters of the SQL functions. */
#ifndef BOXCAR_STORE_POSTGRES_REQUEST_PARAMS_H
#define BOXCAR_STORE_POSTGRES_REQUEST_PARAMS_H

#include "store/postgres/state.h"
#include "store/postgres/statement/params.h"
#include "store/request.h"

/* How many messages have a key, unique or not. */
size_t pg_count_keys(const struct new_messages *messages, bool unique);
/* The unique keys of messages of the outbox. */
void pg_params_for_hold_keys(struct pg_params *params, const struct request *request);
/* What enqueues these messages of the outbox, and its parameters. */
enum pg_statement pg_enqueue_statement(const struct new_messages *messages, bool fresh_ids);
void pg_params_for_enqueue(struct pg_params *params, const struct new_messages *messages, bool fresh_ids);
/* The same for the inbox. `alone`: their transaction does nothing else. */
enum pg_statement pg_inbox_enqueue_statement(const struct new_messages *messages);
void pg_params_for_inbox_enqueue(struct pg_params *params, const struct new_messages *messages, bool alone);
/* Neighbours under one epoch, as a claim brings them: PG_ACK_RUN acks them without arrays. */
bool pg_is_run(boxcar_settlement_list list);
void pg_params_for_settle(struct pg_params *params, const struct request *request, boxcar_box box,
                          boxcar_settle_kind kind);
/* All that the settlements of both boxes lock. */
void pg_params_for_lock_ahead(struct pg_params *params, const struct request *request);
void pg_params_for_claim(struct pg_params *params, const struct request *request, boxcar_box box, int size,
                         bool durable, bool suspects, int64_t number);
/* What a claim takes first: messages that the request stores. */
void pg_params_for_claim_stored(struct pg_params *params, const struct request *request, boxcar_box box,
                                int size, int64_t number);
/* Messages that come back: what was renewed, if that is asked for, else all. */
void pg_params_for_returned(struct pg_params *params, const struct request *request, boxcar_box box);
void pg_params_for_was_settled(struct pg_params *params, const struct request *request, boxcar_box box,
                               boxcar_settle_kind kind, const char *outcome);
/* A defer of claimed messages to now. */
void pg_params_for_give_back(struct pg_params *params, boxcar_owner owner, boxcar_box box,
                             const boxcar_message *claimed, size_t count);

#endif
