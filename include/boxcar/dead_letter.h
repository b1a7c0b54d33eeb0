/* boxcar/dead_letter.h: messages that failed for good: list, replay, purge; and cancel. */
#ifndef BOXCAR_DEAD_LETTER_H
#define BOXCAR_DEAD_LETTER_H

#include "error.h"
#include "inspect.h"
#include "message.h"
#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Chooses dead letters. All conditions must hold. Replay and purge refuse a filter without
 * a condition (BOXCAR_E_INVALID) unless `all` is set, so that a forgotten condition is harmless;
 * listing needs no `all`. */
typedef struct boxcar_dead_filter {
    size_t struct_size;
    boxcar_box box;              /* or the number of a subscription: its own dead letters */
    boxcar_str topic;            /* exact, or ending in * */
    boxcar_reason reason;        /* BOXCAR_REASON_NONE = any */
    boxcar_time before;          /* died before; BOXCAR_TIME_NONE = any */
    const boxcar_message_ref *refs; /* only these */
    size_t ref_count;
    bool all;
} boxcar_dead_filter;

#ifdef __cplusplus
#define BOXCAR_DEAD_FILTER_INIT (boxcar_dead_filter{sizeof(boxcar_dead_filter), BOXCAR_OUTBOX, \
    {0, 0}, BOXCAR_REASON_NONE, BOXCAR_TIME_NONE, 0, 0, false})
#else
#define BOXCAR_DEAD_FILTER_INIT ((boxcar_dead_filter){.struct_size = sizeof(boxcar_dead_filter), \
    .before = BOXCAR_TIME_NONE})
#endif

/* One page of dead letters, newest message first, without payloads; `after` continues a
 * listing. The caller owns *ret_list. */
BOXCAR_API boxcar_status boxcar_dead_page(boxcar_store *store, const boxcar_dead_filter *filter,
                                          int limit, boxcar_work_id after,
                                          boxcar_message_list **ret_list, boxcar_error *err);

/* Makes the chosen dead letters ready again with retry_count 0. Their history records it
 * with `note` (optional). The old time to live no longer counts. A message that is not due yet
 * waits until it is. *ret_count (may be NULL) receives the number of messages. Large numbers are
 * replayed in several transactions; an error leaves the earlier ones committed. */
BOXCAR_API boxcar_status boxcar_dead_replay(boxcar_store *store, const boxcar_dead_filter *filter,
                                            boxcar_str note, int64_t *ret_count, boxcar_error *err);

/* Removes the chosen dead letters for good, and their messages as soon as no other reader wants them. Otherwise as
 * replay. */
BOXCAR_API boxcar_status boxcar_dead_purge(boxcar_store *store, const boxcar_dead_filter *filter,
                                           int64_t *ret_count, boxcar_error *err);

/* Buries a message that is not in progress (reason cancelled), for this reader. BOXCAR_E_NOT_FOUND when
 * there is none, BOXCAR_E_CONFLICT when it is in progress, done or already dead. */
BOXCAR_API boxcar_status boxcar_message_cancel(boxcar_store *store, boxcar_box box, boxcar_message_ref ref,
                                       boxcar_error *err);

#ifdef __cplusplus
}
#endif
#endif
