/* Joins in the SQLite store: functions that its files share. There is one writer at a time, which makes joins
 * simple: an attach sees whether the message has ended, and an ack sees whether the message is a member. */
#ifndef BOXCAR_STORE_SQLITE_JOIN_JOIN_H
#define BOXCAR_STORE_SQLITE_JOIN_JOIN_H

#include "core/join.h"
#include "store/sqlite/settle/lease.h"
#include "store/sqlite/state.h"

/* ---- rows (row.c) ---- */
/* The columns that every statement reading a join begins with; texts are left absent. */
void sqlite_join_from_row(struct query *query, boxcar_join *ret_join);
enum { JOIN_ROW_GROUPING_KEY = 9, JOIN_ROW_METADATA };
boxcar_status sqlite_join_row_read(struct sqlite_store *store, boxcar_join_id join_id, boxcar_join *ret_join,
                                   bool *ret_found, boxcar_error *err);
/* As that; BOXCAR_E_NOT_FOUND. */
boxcar_status sqlite_join_row_need(struct sqlite_store *store, boxcar_join_id join_id, boxcar_join *ret_join,
                                   boxcar_error *err);
/* Writes counters and status of a join that was pending. One that has ended makes its waits due. */
boxcar_status sqlite_join_row_write(struct sqlite_store *store, const boxcar_join *join, boxcar_error *err);
/* BOXCAR_E_CONFLICT */
boxcar_status sqlite_join_error_ended(boxcar_join_id join_id, boxcar_error *err);
/* Hands on the joins that the last transaction has ended, if they are to be logged. */
void sqlite_join_tell_ended(struct sqlite_store *store, struct result *result);
void sqlite_join_log_ended(struct sqlite_store *store);

/* ---- counting (count.c) ---- */
/* Messages that were acked, by rising work ids. */
boxcar_status sqlite_join_count_done(struct sqlite_store *store, const int64_t *ids, size_t count,
                                     boxcar_error *err);
/* Remembers a burial; it is counted with the others of the call. */
boxcar_status sqlite_join_note_burial(struct sqlite_store *store, int64_t work_id, boxcar_error *err);
boxcar_status sqlite_join_count_buried(struct sqlite_store *store, boxcar_error *err);
/* Brings a pending join up to date: its deadline, and members whose message had ended before. */
boxcar_status sqlite_join_settle(struct sqlite_store *store, boxcar_join *join, int64_t *ret_settled,
                                 boxcar_error *err);
/* The same for members of any joins whose messages are about to be removed. */
boxcar_status sqlite_join_settle_range(struct sqlite_store *store, int64_t first, int64_t last,
                                       boxcar_error *err);

/* ---- outcomes of members (outcome.c); the caller changes the counters ---- */
/* A walk through members of a join, by rising work ids; begins with 0 in the others. */
struct outcome_walk {
    boxcar_join_id join_id;
    int64_t known_to, known_from; /* between these two no member has an outcome */
};
/* Neighbouring work ids, all of them members of that join. */
struct member_run {
    int64_t first, last;
    boxcar_member_status outcome;
};
/* Gives the outcome to those that have none yet, the oldest first and not to more than `room`. */
boxcar_status sqlite_join_outcome_add(struct sqlite_store *store, struct outcome_walk *walk,
                                      const struct member_run *run, int64_t room, int64_t *ret_counted,
                                      boxcar_error *err);
/* The same for one member, which may have no message; false = it had its outcome before. */
boxcar_status sqlite_join_outcome_report(struct sqlite_store *store, boxcar_join_id join_id,
                                         boxcar_message_id message_id, boxcar_member_status outcome,
                                         bool *ret_counted, boxcar_error *err);

/* ---- members (attach.c) ---- */
/* Whether some members name messages that are not enqueued yet; and: such a message has come. */
boxcar_status sqlite_join_expects_messages(struct sqlite_store *store, bool *ret_expects, boxcar_error *err);
boxcar_status sqlite_join_know(struct sqlite_store *store, boxcar_message_id message_id, int64_t work_id,
                               boxcar_error *err);
/* The join that messages are attached to, read once for many of them. */
struct attaching {
    bool read;
    boxcar_join join;
};
boxcar_status sqlite_join_attach_enqueued(struct sqlite_store *store, struct attaching *attaching,
                                          boxcar_join_id join_id, const boxcar_enqueued *enqueued,
                                          boxcar_error *err);
/* A dead letter becomes ready again: what was not counted yet waits for its next end. *ret_counted: some
 * join has counted it already. */
boxcar_status sqlite_join_replay(struct sqlite_store *store, int64_t work_id, bool *ret_counted,
                                 boxcar_error *err);

/* ---- waits (wait.c) ---- */
struct resolving {
    boxcar_box box;
    boxcar_owner owner;
    struct lease lease;        /* of the wait in hand */
    struct work_id_list acked; /* has room for all of them */
};
/* Enqueues a wait for a join that this transaction has started. */
boxcar_status sqlite_join_wait_new(struct sqlite_store *store, boxcar_join_id join_id,
                                   const boxcar_new_message *given, boxcar_error *err);
/* Evaluates the wait whose lease is in hand: that ends. What was acked is left to sqlite_finish(). */
boxcar_status sqlite_join_resolve_wait(struct sqlite_store *store, struct resolving *resolving,
                                       const struct wait *wait, enum wait_outcome *ret_outcome,
                                       boxcar_error *err);
boxcar_status sqlite_join_resolve(struct sqlite_store *store, const struct request *request, boxcar_box box,
                                  struct result *result, boxcar_error *err);

/* ---- waits that are not leased (follow.c) ---- */
/* Those of the joins that this transaction has ended. */
boxcar_status sqlite_join_follow(struct sqlite_store *store, boxcar_error *err);
/* Those of one join, which has ended. */
boxcar_status sqlite_join_follow_one(struct sqlite_store *store, boxcar_join_id join_id, boxcar_error *err);
/* Those that have been due since `since`, at most `limit`. *ret_count: how many. */
boxcar_status sqlite_join_evaluate_due(struct sqlite_store *store, boxcar_time since, size_t limit,
                                       int64_t *ret_count, boxcar_error *err);
/* Some of those that are due, in a transaction of its own. */
boxcar_status sqlite_evaluate_waits(struct boxcar_store *store, int64_t *ret_count, boxcar_error *err);

/* ---- upkeep (maintain.c, attach.c, count.c); each in a transaction of the caller, bounded ---- */
struct join_upkeep {
    int64_t count; /* joins or members, as the step says */
    bool more;
};
boxcar_status sqlite_join_time_out_step(struct sqlite_store *store, struct join_upkeep *ret_upkeep,
                                        boxcar_error *err);
boxcar_status sqlite_join_recognize_step(struct sqlite_store *store, struct join_upkeep *ret_upkeep,
                                         boxcar_error *err);
/* Members whose message had ended before they were attached. */
boxcar_status sqlite_join_settle_step(struct sqlite_store *store, struct join_upkeep *ret_upkeep,
                                      boxcar_error *err);
boxcar_status sqlite_join_purge_step(struct sqlite_store *store, struct join_upkeep *ret_upkeep,
                                     boxcar_error *err);

/* ---- the seam ---- */
boxcar_status sqlite_join_start(struct boxcar_store *store, const boxcar_new_join *join, boxcar_error *err);
boxcar_status sqlite_join_attach(struct boxcar_store *store, boxcar_join_id join_id,
                                 const boxcar_message_id *message_ids, size_t count,
                                 boxcar_attached *ret_attached, boxcar_error *err);
boxcar_status sqlite_join_end(struct boxcar_store *store, boxcar_join_id join_id, const struct step_end *step,
                              struct join_change *ret_change, boxcar_error *err);
boxcar_status sqlite_join_wait(struct boxcar_store *store, boxcar_join_id join_id,
                               const boxcar_new_message *message, boxcar_enqueued *ret_enqueued,
                               struct join_change *ret_change, boxcar_error *err);
boxcar_status sqlite_join_page(struct boxcar_store *store, const boxcar_join_filter *filter,
                               boxcar_join_id join_id, struct join_rows **ret_list, boxcar_error *err);
boxcar_status sqlite_join_members(struct boxcar_store *store, boxcar_join_id join_id, boxcar_message_id after,
                                  int limit, struct join_member_rows **ret_list, boxcar_error *err);

#endif
