/* Streams: from the log to the parking lot, halts, and evidence of messages handled out of order. */
#ifndef BOXCAR_STORE_SQLITE_STREAM_STREAM_H
#define BOXCAR_STORE_SQLITE_STREAM_STREAM_H

#include "store/sqlite/message/park.h"
#include "store/sqlite/settle/lease.h"

/* ---- from the log to the lot (lot.c) ---- */
/* Parks what is leased of a stream straight from the log, and what lies there below `before` and no claim has
 * met. From then on the lot knows all that comes before anything that is parked. */
boxcar_status sqlite_stream_enter_lot(struct sqlite_store *store, struct stream_key key, int64_t before,
                                      boxcar_error *err);
/* The same for the stream of a lease, if it came straight from the log; before it ends in any way but
 * success. */
boxcar_status sqlite_lease_enter_lot(struct sqlite_store *store, struct lease *lease, boxcar_error *err);
/* The first message of a stream, below `before`, that is leased straight from the log; 0 = none. */
boxcar_status sqlite_stream_first_straight(struct sqlite_store *store, struct stream_key key, int64_t before,
                                           int64_t *ret_work_id, boxcar_error *err);
/* The first that no claim has met; 0 = none. */
boxcar_status sqlite_stream_first_fresh(struct sqlite_store *store, struct stream_key key,
                                        int64_t *ret_work_id, boxcar_error *err);

/* ---- halts and evidence (stream.c) ---- */
struct stream_halt {
    bool found;
    boxcar_time at;
    int64_t by;
};

/* Into store->rules. */
boxcar_status sqlite_stream_rules_load(struct sqlite_store *store, boxcar_error *err);
boxcar_status sqlite_stream_halt_read(struct sqlite_store *store, struct stream_key key,
                                      struct stream_halt *ret_halt, boxcar_error *err);
boxcar_status sqlite_stream_halt_end(struct sqlite_store *store, struct stream_key key, boxcar_error *err);
/* Before a message leaves the lot for the dead letters: halts its stream if that is the stream's policy. */
boxcar_status sqlite_stream_note_death(struct sqlite_store *store, const struct parked *row,
                                       boxcar_reason reason, boxcar_error *err);
/* Before a dead letter is parked again: a stream that it has halted goes on. */
boxcar_status sqlite_stream_note_replay(struct sqlite_store *store, struct stream_key key, int64_t work_id,
                                        boxcar_error *err);
/* A streamed message was acked while an earlier one was unfinished; looked at once all of the call are, by
 * the second. */
boxcar_status sqlite_stream_note_ack(struct sqlite_store *store, const struct parked *row, boxcar_error *err);
/* One that came straight from the log was acked, whatever is before it. */
boxcar_status sqlite_stream_note_straight_ack(struct sqlite_store *store, const struct lease *lease,
                                              boxcar_error *err);
boxcar_status sqlite_stream_check_acks(struct sqlite_store *store, boxcar_error *err);
/* box -1 = both. */
boxcar_status sqlite_stream_count_violations(struct sqlite_store *store, int box, int64_t limit,
                                             int64_t *ret_count, boxcar_error *err);
/* Forgets old evidence. */
boxcar_status sqlite_stream_sweep(struct sqlite_store *store, boxcar_error *err);
boxcar_status sqlite_stream_count_halted(struct sqlite_store *store, boxcar_box box, int64_t limit,
                                         int64_t *ret_count, boxcar_error *err);

#endif
