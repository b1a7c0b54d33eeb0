/* From what a caller gives to what stores want. Everything has been validated before. */
#ifndef BOXCAR_FLOW_PREPARE_H
#define BOXCAR_FLOW_PREPARE_H

#include "store/batch.h"

/* Empty texts become absent. */
void prepare_texts(boxcar_new_message *message);

/* A message of the outbox: texts, and a key becomes what it stands for: the message's id, unless it is unique. false =
 * the key's digest could not be computed. The id may still be none afterwards. */
bool prepare_message(boxcar_new_message *message, struct message_key *ret_key);

/* New ids for the `missing` messages that have none. */
boxcar_status prepare_ids(boxcar_new_message *messages, size_t count, size_t missing, boxcar_error *err);

/* Error texts are cut, and a defer has no backoff: what BOXCAR_SETTLEMENT_INIT says about it means "now". */
bool prepare_is_needed(boxcar_settle_kind kind, const boxcar_settlement *settlement);
void prepare_settlement(boxcar_settle_kind kind, boxcar_settlement *settlement);

#endif
