/* From what a caller gives to what stores want. Everything has been validated before. */
#ifndef BOXCAR_REQUEST_PREPARE_H
#define BOXCAR_REQUEST_PREPARE_H

#include "store/store.h"

/* Empty texts become absent. A key becomes what it stands for: that of the inbox the message's id; that of
 * the outbox, too, unless it is unique. false = a digest could not be computed. The id may still be none
 * afterwards, in the outbox. */
bool prepare_message(boxcar_box box, boxcar_new_message *message, struct message_key *ret_key);

/* New ids for the `missing` messages that have none. */
boxcar_status prepare_ids(boxcar_new_message *messages, size_t count, size_t missing, boxcar_error *err);

/* Puts a box's messages into the request in that form: copies of them, every one with an id. */
boxcar_status prepare_messages(struct arena *arena, struct request *request, boxcar_box box,
                               boxcar_new_message_list messages, boxcar_error *err);

/* Settlements of one box that may be written to, by their ways. */
struct settlements {
    struct {
        boxcar_settlement *items;
        size_t count;
    } lists[BOXCAR_SETTLE_KINDS];
};
/* Where a settlement names its message by message id, the store is asked for the work id, once for all; 0 =
 * the box has no such message. Nothing is asked if all have work ids. */
boxcar_status prepare_work_ids(struct boxcar_store *store, boxcar_box box,
                               const struct settlements *settlements, boxcar_error *err);
/* The same for a request, in copies of the lists that need it. */
boxcar_status prepare_request_work_ids(struct arena *arena, struct boxcar_store *store,
                                       struct request *request, boxcar_error *err);

/* Error texts are cut, and a defer has no backoff: what BOXCAR_SETTLEMENT_INIT says about it means "now". */
void prepare_settlement(boxcar_settle_kind kind, boxcar_settlement *settlement);
/* Both for all lists of a request; they are copied only if something has to change. Stages that come with
 * results are recorded before these: they join the records of stages. */
boxcar_status prepare_settlements(struct arena *arena, struct request *request, boxcar_error *err);

#endif
