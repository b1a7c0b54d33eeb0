/* What the calls that make batches share: outbox.c, settle.c, process.c. */
#ifndef BOXCAR_API_MESSAGE_BATCHING_H
#define BOXCAR_API_MESSAGE_BATCHING_H

#include "store/store.h"

/* Copies the messages into the part in the form that stores want: every one has an id. */
boxcar_status batching_add_messages(struct arena *arena, const boxcar_new_message *messages, size_t count,
                                    struct batch_part *part, boxcar_error *err);
/* Puts a list into the part in the form that stores want; copies it only if something has to change. */
boxcar_status batching_add_settlements(struct arena *arena, boxcar_settle_kind kind, struct settlement_list list,
                                       struct batch_part *part, boxcar_error *err);

#endif
