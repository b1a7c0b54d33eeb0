/* Streams in the SQLite store: heads, halts, runs, and what operators ask. */
#ifndef BOXCAR_SQLITE_STREAM_H
#define BOXCAR_SQLITE_STREAM_H

#include "sqlite_store.h"

struct stream_key {
    int box;
    boxcar_str text;
};

/* ---- heads (sqlite_park.c) ---- */
/* The first message of a stream in each state (0 = none), and whether it is halted. */
struct stream_places {
    int64_t first[PARKED_LEASED + 1];
    bool halted;
};

boxcar_status sqlite_stream_places(struct sqlite_store *store, struct stream_key key,
                                   struct stream_places *ret_places, boxcar_error *err);
/* The first unfinished message of all; 0 = none. */
int64_t sqlite_stream_earliest(const struct stream_places *places);
/* Makes the smallest number the open one; none while one is leased or the stream is halted. */
boxcar_status sqlite_stream_settle_head(struct sqlite_store *store, struct stream_key key, boxcar_error *err);

/* ---- from the log to the lot (sqlite_stream_lot.c) ---- */
/* Parks what is leased of a stream straight from the log, and what lies there below `before` and no claim has met. From
 * then on the lot knows all that comes before anything that is parked. */
boxcar_status sqlite_stream_enter_lot(struct sqlite_store *store, struct stream_key key, int64_t before,
                                      boxcar_error *err);
/* The same for the stream of a lease, if it came straight from the log; before it ends in any way but success. */
boxcar_status sqlite_lease_enter_lot(struct sqlite_store *store, struct lease *lease, boxcar_error *err);
/* The first message of a stream, below `before`, that is leased straight from the log; 0 = none. */
boxcar_status sqlite_stream_first_straight(struct sqlite_store *store, struct stream_key key, int64_t before,
                                           int64_t *ret_work_id, boxcar_error *err);
/* The first that no claim has met; 0 = none. */
boxcar_status sqlite_stream_first_fresh(struct sqlite_store *store, struct stream_key key, int64_t *ret_work_id,
                                        boxcar_error *err);
/* The first streamed message fixes how many partitions there are (sqlite_park.c). */
boxcar_status sqlite_fix_partitions(struct sqlite_store *store, boxcar_error *err);

/* ---- halts and evidence (sqlite_stream.c) ---- */
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

/* ---- claims (sqlite_claim_stream.c) ---- */
/* Which class of candidates a due message belongs to, for this claimer. */
enum claim_right { RIGHT_OWN, RIGHT_OTHERS, RIGHT_NONE };
boxcar_status sqlite_claim_right(struct sqlite_store *store, struct claim *claim, int partition,
                                 boxcar_time available_at, enum claim_right *ret_right, boxcar_error *err);
/* Whether a stream that lies in the log since then is the claimer's to take at once. */
boxcar_status sqlite_claim_prefers(struct sqlite_store *store, struct claim *claim, boxcar_str stream,
                                   boxcar_time created_at, bool *ret_prefers, boxcar_error *err);
/* Remembers a head that was taken just now, and takes up to `count` of those behind it. */
boxcar_status sqlite_claim_run_begin(struct sqlite_store *store, struct claim *claim,
                                     const boxcar_message *head, size_t count, boxcar_error *err);
/* Uses what room is left for longer runs of the streams that the claim has. */
boxcar_status sqlite_claim_runs_extend(struct sqlite_store *store, struct claim *claim, boxcar_error *err);
/* One parked message into the claim (sqlite_claim_parked.c). *ret_taken NULL: it was too old and is buried.
 */
boxcar_status sqlite_claim_take(struct sqlite_store *store, struct claim *claim, int64_t work_id,
                                enum parked_state state, boxcar_message **ret_taken, boxcar_error *err);

/* ---- for people (sqlite_stream_admin.c) ---- */
boxcar_status sqlite_stream_page(struct boxcar_store *store, const boxcar_stream_filter *filter,
                                 boxcar_str stream, struct boxcar_stream_list **ret_list, boxcar_error *err);
boxcar_status sqlite_stream_resume(struct boxcar_store *store, boxcar_box box, boxcar_str stream, bool replay,
                                   boxcar_error *err);
boxcar_status sqlite_stream_skip(struct boxcar_store *store, boxcar_box box, boxcar_str stream,
                                 boxcar_work_id *ret_work_id, boxcar_error *err);
boxcar_status sqlite_stream_rule_write(struct boxcar_store *store, boxcar_str pattern,
                                       boxcar_stream_policy policy, boxcar_error *err);
boxcar_status sqlite_stream_rule_remove(struct boxcar_store *store, boxcar_str pattern, boxcar_error *err);
boxcar_status sqlite_stream_rules(struct boxcar_store *store, struct boxcar_stream_rule_list **ret_list,
                                  boxcar_error *err);
boxcar_status sqlite_stream_violations(struct boxcar_store *store, int64_t *ret_count, boxcar_error *err);
boxcar_status sqlite_instances(struct boxcar_store *store, struct boxcar_instance_list **ret_list,
                               boxcar_error *err);

#endif
