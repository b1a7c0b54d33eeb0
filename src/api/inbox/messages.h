/* Messages from outside on their way to a batch, for all calls that take them: inbox.c, message/process.c,
 * coordinator.c. */
#ifndef BOXCAR_API_INBOX_MESSAGES_H
#define BOXCAR_API_INBOX_MESSAGES_H

#include "store/batch.h"

/* The i-th of an array, laid over the defaults. The caller's structs may be smaller than ours: the first says
 * how far apart they are, and all must say the same. */
boxcar_status inbox_message_at(const boxcar_new_inbox_message *messages, size_t i,
                               boxcar_new_inbox_message *ret_message, boxcar_error *err);
/* The rules for one. */
boxcar_status inbox_message_check(const boxcar_new_inbox_message *message, boxcar_error *err);
/* Reads and checks all; errors name the message by its index ("messages[3].source"). */
boxcar_status inbox_messages_check(const boxcar_new_inbox_message *messages, size_t count, boxcar_error *err);

/* A key in the form that stores want. */
boxcar_status inbox_origin_of(boxcar_inbox_key key, boxcar_str content_hash, struct inbox_origin *ret_origin,
                              boxcar_error *err);
/* Puts messages that were checked into the part, in the form that stores want: each with its origin and the
 * id that its key stands for. */
boxcar_status inbox_messages_add(struct arena *arena, const boxcar_new_inbox_message *messages, size_t count,
                                 struct batch_part *part, boxcar_error *err);

#endif
