/* From what a caller gives to what stores want. Everything has been validated before. */
#ifndef BOXCAR_REQUEST_PREPARE_H
#define BOXCAR_REQUEST_PREPARE_H

#include "gather.h"
#include "store/store.h"

/* Empty texts become absent. A key becomes what it stands for: that of the inbox the message's id; that of
 * the outbox, too, unless it is unique. false = a digest could not be computed. The id may still be none
 * afterwards, in the outbox. */
bool prepare_message(boxcar_box box, boxcar_new_message *message, struct message_key *ret_key);

/* New ids for the messages that have none. */
boxcar_status prepare_ids(boxcar_new_message *messages, size_t count, boxcar_error *err);

/* Puts a box's messages into the request in that form: copies of them, every one with an id. */
boxcar_status prepare_messages(struct arena *arena, struct request *request, boxcar_box box,
                               boxcar_new_message_list messages, boxcar_error *err);

/* Error texts are cut, and a defer has no backoff: what BOXCAR_SETTLEMENT_INIT says about it means "now". */
void prepare_settlement(boxcar_settle_kind kind, boxcar_settlement *settlement);
/* Where a settlement of a box names its message by message id, the store is asked for the work id, once for
 * all; 0 = the box has no such message. Nothing is asked if all have work ids. */
boxcar_status prepare_work_ids(struct boxcar_store *store, boxcar_box box,
                               const struct gather_list lists[BOXCAR_SETTLE_KINDS], boxcar_error *err);
/* Both for all lists of a request; they are copied only if something has to change. */
boxcar_status prepare_settlements(struct arena *arena, struct boxcar_store *store, struct request *request,
                                  boxcar_error *err);
/* Stages that come with results are recorded before these: they join the records of stages. */
boxcar_status prepare_stages(struct arena *arena, struct request *request, boxcar_error *err);

#endif
