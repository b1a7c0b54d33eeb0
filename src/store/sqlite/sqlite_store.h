/* The SQLite store from the inside: the connection, transactions, and what its files offer
 * one another. One writer at a time does most of the work: see sqlite_claim.c for the
 * mechanism and sql/sqlite/migrations for the tables. */
#ifndef BOXCAR_SQLITE_STORE_H
#define BOXCAR_SQLITE_STORE_H

#include <sqlite3.h>

#include "base/error.h"
#include "base/memory.h"
#include "boxcar/backoff.h"
#include "core/partition.h"
#include "sqlite_query.h"
#include "sqlite_statement.h"
#include "store/store.h"
#include "store/stream_log.h"

/* Whoever waits for a lock sleeps a little, by chance, and gives up at the deadline. */
struct busy {
    int64_t deadline_us; /* monotonic */
    uint64_t random;
};

/* The counters of one topic; the columns of boxcar_tally. */
enum tally_kind {
    TALLY_FRESH,
    TALLY_PARKED,
    TALLY_BEHIND,
    TALLY_LEASED,
    TALLY_DONE,
    TALLY_DEAD,
    TALLY_KINDS
};

/* What the running transaction has changed, by topic; written once before it commits. */
struct tally_entry {
    boxcar_str topic;
    int box;
    int64_t delta[TALLY_KINDS];
};

struct tally {
    struct tally_entry *entries;
    size_t count, capacity;
    uint32_t *slots; /* hash table of indexes into entries, + 1; 0 = empty */
    size_t slot_count;
    size_t last; /* most messages of a batch have the topic of the one before */
    bool failed; /* out of memory */
};

struct sqlite_settings {
    bool loaded;
    int max_attempts;
    int64_t payload_max, headers_max; /* bytes */
    int64_t retention_done_ms, retention_dead_ms, retention_joins_ms, retention_inbox_ms;
    boxcar_str wait_topic; /* of messages that wait for joins */
    boxcar_stream_policy stream_policy;
    int partition_count, partitions_max; /* the second: of one worker, 0 = no limit */
    int64_t instance_timeout_ms;
    bool partitions_fixed;               /* the store has had streamed messages */
    boxcar_backoff_curve curve;
};

/* Messages buried by the running transaction: their joins are told once, see sqlite_join_count.c. */
struct burial_list {
    int64_t *ids; /* in the scratch arena */
    size_t count, capacity;
};

/* The policies of streams; read once a transaction. */
struct stream_rules {
    bool loaded;
    boxcar_stream_rule *items; /* in the scratch arena */
    size_t count;
};

/* Streamed messages acked by the running call; see sqlite_stream_check_acks(). */
struct acked {
    int box;
    boxcar_str stream;
    int64_t work_id;
};

struct acked_list {
    struct acked *items; /* in the scratch arena */
    size_t count, capacity;
    bool from_lot; /* some of them were parked */
};

struct sqlite_store {
    struct boxcar_store base;
    sqlite3 *db;
    sqlite3 *checkpointer; /* see sqlite_checkpoint.c; opened when first needed */
    bool borrowed;         /* db belongs to the caller */
    bool begun;            /* between sqlite_begin() and its end */
    char *path;            /* as given to SQLite */
    int64_t busy_timeout_ms;
    struct busy busy;
    bool relaxed;          /* the caller asked for synchronous=NORMAL */
    bool syncs;            /* what the connection is set to now */
    int wal_pages;         /* in the WAL after our last commit */
    int wal_checkpoint_at; /* copy the WAL back when it has so many pages */
    int last_rc;           /* of the last error: tells busy from the rest */
    int wal_watch;         /* an inotify descriptor, see sqlite_sleep.c; -1 = none yet */
    int64_t seen_version;  /* of the file when it was last looked through; 0 = never */
    boxcar_message_id unknown_from; /* see sqlite_join_recognize_step() */
    sqlite3_stmt *statements[STATEMENT_COUNT];

    /* Of the running transaction. */
    boxcar_time now;
    struct arena scratch;
    struct tally tally;
    struct burial_list buried;
    struct ended_list ended; /* by the last transaction, for the log; stays until the next transaction begins */
    struct halted_list halted; /* by the last transaction */
    struct stream_rules rules;
    struct acked_list acked;
    struct sqlite_settings settings;
};

static inline struct sqlite_store *sqlite_of(struct boxcar_store *store) {
    return (struct sqlite_store *)store;
}

/* ---- connection (sqlite_connection.c) ---- */
boxcar_status sqlite_connect(struct sqlite_store *store, bool create, boxcar_error *err);
boxcar_status sqlite_prepare_journal(struct sqlite_store *store, boxcar_error *err);
void sqlite_disconnect(struct sqlite_store *store);
/* If the open file has lost its name (removed, or another one is in its place), opens the one that has it
 * now. BOXCAR_E_UNAVAILABLE: there is none that can be used; the old one stays open then. */
boxcar_status sqlite_follow_name(struct sqlite_store *store, boxcar_error *err);
boxcar_status sqlite_set_durable(struct sqlite_store *store, bool durable, boxcar_error *err);
boxcar_time sqlite_clock(void); /* the host's clock is the database's clock here */
int64_t sqlite_monotonic_us(void);
void sqlite_busy_start(struct busy *busy, int64_t timeout_ms);
bool sqlite_busy_wait(struct busy *busy, int tries); /* false = the deadline has passed */
int sqlite_busy_handler(void *busy, int tries);
uint64_t sqlite_draw(struct busy *busy); /* chance, not secrets */

/* ---- checkpoints (sqlite_checkpoint.c) ---- */
void sqlite_checkpoint_watch(struct sqlite_store *store);
void sqlite_checkpoint_if_due(struct sqlite_store *store); /* after a commit */

/* ---- transactions (sqlite_transaction.c) ---- */
/* Runs again from the start when the file was busy: what it returns must be reset at its start. */
typedef boxcar_status (*sqlite_work_fn)(struct sqlite_store *store, void *context, boxcar_error *err);
enum access { ACCESS_READ, ACCESS_WRITE, ACCESS_WRITE_RELAXED };
boxcar_status sqlite_transaction(struct sqlite_store *store, enum access access, sqlite_work_fn work,
                                 void *context, boxcar_error *err);
/* Takes the write lock and gives it back at once, after waiting for so long at most. Not inside of a transaction. */
boxcar_status sqlite_try_turn(struct sqlite_store *store, int64_t longest_ms, bool *ret_had_turn, boxcar_error *err);
/* A transaction that spans calls; see store.h. */
boxcar_status sqlite_begin(struct boxcar_store *store, boxcar_error *err);
boxcar_status sqlite_commit(struct boxcar_store *store, boxcar_error *err);
void sqlite_rollback(struct boxcar_store *store);

/* ---- workers (sqlite_instance.c, sqlite_sleep.c, sqlite_drained.c) ---- */
boxcar_status sqlite_heartbeat(struct boxcar_store *store, const struct instance *instance,
                               boxcar_error *err);
boxcar_status sqlite_farewell(struct boxcar_store *store, boxcar_owner owner, boxcar_error *err);
/* A call names the owner: if it is registered, that is noted in both boxes, at these intervals. */
#define SQLITE_SIGN_US (INT64_C(500) * 1000)
enum sign_kind { SIGN_WITH_WORK, SIGN_IN_VAIN }; /* the transaction writes anyway; a claim that found nothing */
boxcar_status sqlite_instance_sign(struct sqlite_store *store, boxcar_owner owner, enum sign_kind kind,
                                   boxcar_error *err);
/* Removes one of those that were silent for this long (0 = the setting), with at most `limit` of its leases: as if
 * they had expired. *ret_more: there may be others. */
boxcar_status sqlite_instance_remove_silent(struct sqlite_store *store, int64_t threshold_ms, int limit,
                                            int64_t *ret_released, bool *ret_more, boxcar_error *err);
void sqlite_sleep(struct boxcar_store *store, const struct nap *nap);
/* Remembers what a claim has seen: only what others commit later ends a sleep. */
boxcar_status sqlite_sleep_note(struct sqlite_store *store, boxcar_error *err);
void sqlite_sleep_end(struct sqlite_store *store); /* for good */
boxcar_status sqlite_is_drained(struct boxcar_store *store, boxcar_box box, const boxcar_str *topics,
                                size_t topic_count, boxcar_str wait_topic, int64_t horizon_ms,
                                bool *ret_drained, boxcar_error *err);

/* ---- errors (sqlite_error.c) ---- */
boxcar_status sqlite_error(struct sqlite_store *store, int rc, boxcar_error *err);
bool sqlite_is_busy(int rc);
boxcar_status sqlite_error_not_deployed(struct sqlite_store *store, boxcar_error *err);

/* ---- deployment (sqlite_deploy.c) ---- */
boxcar_status sqlite_deploy(struct boxcar_store *store, boxcar_deployment *ret_deployment, boxcar_error *err);
boxcar_status sqlite_check_deployed(struct sqlite_store *store, boxcar_error *err);

/* ---- counters (sqlite_tally.c) ---- */
void sqlite_tally_add(struct sqlite_store *store, int box, boxcar_str topic, enum tally_kind kind,
                      int64_t delta);
boxcar_status sqlite_tally_flush(struct sqlite_store *store, boxcar_error *err);
/* Only what has to do with open parked messages: for a look at those in the middle of a transaction. */
boxcar_status sqlite_tally_flush_parked(struct sqlite_store *store, boxcar_error *err);
void sqlite_tally_clear(struct tally *tally);

/* ---- the parking lot (sqlite_park.c) ---- */
/* Where in the log a message belongs, see sql/sqlite/migrations/0001_kernel.sql: on the straight path, set aside, or in a
 * stream and in its order. */
enum lane { LANE_PLAIN, LANE_ASIDE, LANE_STREAMED };

enum parked_state { PARKED_OPEN, PARKED_SUSPECT, PARKED_BEHIND, PARKED_LEASED };

struct parked {
    int64_t work_id;
    int box;
    enum parked_state state;
    boxcar_str topic, stream;
    boxcar_time available_at, expires_at;
    int retry_count, crash_count;
    boxcar_str last_error;
    bool placed; /* it has a row already, which knows its partition */
    bool met;    /* a claim came to it in the log: what is before it in its stream was met, too */
};

/* Parks a message, or puts a leased one back; decides its state and its stream's head. */
boxcar_status sqlite_park(struct sqlite_store *store, const struct parked *row, boxcar_error *err);
/* Text is copied into the scratch arena. */
boxcar_status sqlite_parked_read(struct sqlite_store *store, int64_t work_id, struct parked *ret_row,
                                 bool *ret_found, boxcar_error *err);
/* Takes a message off the lot for good and lets its stream go on. *ret_earliest (may be NULL): the first message of
 * the stream that is left, 0 = none. */
boxcar_status sqlite_unpark(struct sqlite_store *store, const struct parked *row, int64_t *ret_earliest,
                            boxcar_error *err);
enum tally_kind sqlite_parked_tally(enum parked_state state);

/* ---- leases and how they end (sqlite_settle.c, sqlite_release.c) ---- */
struct lease {
    int64_t work_id;
    boxcar_epoch epoch;
    boxcar_owner owner;
    int box;
    bool parked;
    boxcar_str topic;  /* in the scratch arena, or borrowed from the statement */
    boxcar_str stream; /* it was leased straight from the log as part of this stream; else absent */
};

boxcar_status sqlite_settle(struct sqlite_store *store, const struct batch *batch, boxcar_box box,
                            enum settle_kind kind, struct batch_result *result, boxcar_error *err);
boxcar_status sqlite_lease_read(struct sqlite_store *store, int64_t work_id, struct lease *ret_lease,
                                bool *ret_found, boxcar_error *err);
boxcar_status sqlite_lease_drop(struct sqlite_store *store, const struct lease *lease, boxcar_error *err);
/* Whether the owner, in the epoch that it says, holds the lease in this box. */
bool sqlite_lease_is_held(const struct lease *lease, boxcar_box box, boxcar_owner owner,
                          const boxcar_settlement *said);
/* The message is done; the evidence is written for many at once, by sqlite_finish(). */
boxcar_status sqlite_lease_ack(struct sqlite_store *store, const struct lease *lease, boxcar_error *err);
boxcar_status sqlite_lease_fail(struct sqlite_store *store, const struct lease *lease, boxcar_reason reason,
                                boxcar_str error, boxcar_error *err);
/* Counts acked messages in their joins and writes down that they are done. */
boxcar_status sqlite_finish(struct sqlite_store *store, boxcar_owner owner, const struct work_id_list *acked,
                            boxcar_error *err);

struct release {
    const char *outcome; /* of the attempt; NULL = none was spent */
    bool crashed;
    bool cleared;     /* it is no suspect any more */
    int64_t delay_ms; /* BOXCAR_BACKOFF = the store's */
    boxcar_str error;
};

boxcar_status sqlite_release(struct sqlite_store *store, const struct lease *lease, const struct release *how,
                             boxcar_error *err);
/* Releases a lease as if it had expired. */
boxcar_status sqlite_release_expired(struct sqlite_store *store, int64_t work_id, boxcar_error *err);
/* Releases at most `limit` expired leases, of either box. */
boxcar_status sqlite_reap(struct sqlite_store *store, int limit, int64_t *ret_count, boxcar_error *err);
/* All of one box. */
boxcar_status sqlite_reap_box(struct sqlite_store *store, boxcar_box box, int64_t *ret_count, boxcar_error *err);
/* Buries at most `limit` parked messages whose time to live has ended. */
boxcar_status sqlite_expire(struct sqlite_store *store, int limit, int64_t *ret_count, boxcar_error *err);

struct burial {
    int64_t work_id;
    int box;
    boxcar_str topic;
    boxcar_reason reason;
    const char *outcome;       /* written into the history; NULL = it is there already */
    const struct lease *lease; /* that ended with it, or NULL */
    int retry_count, crash_count;
    boxcar_str error;      /* of this end */
    boxcar_str last_error; /* shown with the dead letter */
};

/* The message is in no lease and not parked any more. */
boxcar_status sqlite_bury(struct sqlite_store *store, const struct burial *burial, boxcar_error *err);
boxcar_status sqlite_bury_parked(struct sqlite_store *store, const struct parked *row, boxcar_reason reason,
                                 const char *outcome, boxcar_error *err);
struct attempt {
    int64_t work_id;
    int retry_count;
    const char *outcome;
    const struct lease *lease;
    boxcar_str error;
};
boxcar_status sqlite_attempt_write(struct sqlite_store *store, const struct attempt *attempt,
                                   boxcar_error *err);

/* A heartbeat, as part of a transaction. */
boxcar_status sqlite_instance_write(struct sqlite_store *store, const struct instance *instance,
                                    boxcar_error *err);

/* ---- the batch and its parts ---- */
boxcar_status sqlite_process(struct boxcar_store *store, const struct batch *batch,
                             struct batch_result *ret_result, boxcar_error *err);
boxcar_status sqlite_enqueue(struct sqlite_store *store, const struct batch *batch,
                             struct batch_result *result, boxcar_error *err);

/* One message, or what is there already. */
/* As sqlite_enqueue_one(), but parked at once. */
boxcar_status sqlite_enqueue_aside(struct sqlite_store *store, boxcar_box box,
                                   const boxcar_new_message *message, boxcar_enqueued *ret_enqueued,
                                   boxcar_error *err);
boxcar_status sqlite_enqueue_one(struct sqlite_store *store, boxcar_box box,
                                 const boxcar_new_message *message, boxcar_enqueued *ret_enqueued,
                                 boxcar_error *err);

struct frontier {
    int64_t position, epoch, turn;
    bool suspect_last;
};

/* Which streams a claimer is preferred for. */
struct ownership {
    bool loaded;
    bool registered; /* a worker that has said that it lives; others may have everything */
    int64_t rank, workers;
    struct partition_range own;
};

/* What a claim has of one stream. */
struct run {
    boxcar_str stream;
    int64_t last_id;
    bool ended; /* what comes next cannot be handed out now */
};

struct run_list {
    struct run *items; /* in the scratch arena */
    size_t count, capacity;
};

struct claim {
    boxcar_box box;
    boxcar_owner owner;
    const struct batch_part *part;
    struct part_result *result;
    struct arena *arena; /* of the answer */
    struct frontier frontier;
    boxcar_str waits; /* the topic of waits, which are only for those who name it; absent for these */
    size_t capacity; /* of result->claimed */
    size_t bytes;    /* of payload claimed so far */
    boxcar_time until;
    bool epoch_drawn;
    bool every_topic;
    boxcar_str *topics; /* those with parked messages that match, unless every_topic */
    size_t topic_count;
    struct ownership ownership;
    struct run_list runs;
    bool parked_streamed; /* the window brought streamed messages to the lot */
};

/* *ret_more: the claim stopped at its work limit before it found anything; call again. */
boxcar_status sqlite_claim(struct sqlite_store *store, const struct batch *batch, boxcar_box box,
                           struct batch_result *result, bool *ret_more, boxcar_error *err);
bool sqlite_claim_wants(const struct claim *claim, boxcar_str topic);
bool sqlite_claim_is_full(const struct claim *claim, size_t limit);
boxcar_status sqlite_claim_next(struct sqlite_store *store, struct claim *claim, boxcar_message **ret_message,
                                boxcar_error *err);
enum lease_way { LEASE_PLAIN, LEASE_PARKED, LEASE_STREAMED }; /* streamed: straight from the log */
boxcar_status sqlite_claim_lease(struct sqlite_store *store, struct claim *claim, boxcar_message *message,
                                 enum lease_way way, boxcar_error *err);
/* Takes fresh messages (sqlite_claim_window.c). *ret_more: stopped at a limit, with rows left. */
boxcar_status sqlite_claim_window(struct sqlite_store *store, struct claim *claim, bool *ret_more,
                                  boxcar_error *err);
/* Takes parked messages in the given state until the claim holds `limit`. */
boxcar_status sqlite_claim_parked(struct sqlite_store *store, struct claim *claim, enum parked_state state,
                                  size_t limit, boxcar_error *err);
boxcar_status sqlite_claim_topics(struct sqlite_store *store, struct claim *claim, boxcar_error *err);

/* ---- reading (sqlite_read.c, sqlite_inspect.c, sqlite_stats.c) ---- */
boxcar_status sqlite_read_message(struct query *query, struct arena *arena, boxcar_message *message,
                                  boxcar_error *err);
boxcar_status sqlite_read_payload(struct query *query, int column, struct arena *arena,
                                  boxcar_message *message, boxcar_error *err);
boxcar_status sqlite_read_found(struct query *query, bool payload, struct arena *arena,
                                boxcar_message *message, boxcar_error *err);
/* Reads the messages with these work ids, in this order, without payloads. */
boxcar_status sqlite_read_list(struct sqlite_store *store, const int64_t *ids, size_t count,
                               struct boxcar_message_list *list, boxcar_error *err);
boxcar_status sqlite_ref_resolve(struct sqlite_store *store, boxcar_box box, boxcar_message_ref ref,
                                 int64_t *ret_work_id, bool *ret_found, boxcar_error *err);

/* The bytes between which exactly the topics of a pattern lie; absent = every topic. The
 * texts live in the scratch arena. */
struct topic_range {
    boxcar_str low, high;
};
boxcar_status sqlite_topic_range(struct sqlite_store *store, boxcar_str pattern,
                                 struct topic_range *ret_range, boxcar_error *err);
/* Runs a statement that yields work ids; they live in the scratch arena. */
boxcar_status sqlite_collect_ids(struct sqlite_store *store, struct query *query, int64_t **ret_ids,
                                 size_t *ret_count, boxcar_error *err);

boxcar_status sqlite_find(struct boxcar_store *store, boxcar_box box, boxcar_message_ref ref,
                          struct boxcar_message_list **ret_list, boxcar_error *err);
boxcar_status sqlite_page(struct boxcar_store *store, const boxcar_list_options *options,
                          struct boxcar_message_list **ret_list, boxcar_error *err);
boxcar_status sqlite_attempts(struct boxcar_store *store, boxcar_work_id work_id,
                              struct boxcar_attempt_list **ret_list, boxcar_error *err);
boxcar_status sqlite_stats(struct boxcar_store *store, boxcar_box box, bool by_topic,
                           struct boxcar_stats_list **ret_list, boxcar_error *err);

/* ---- dead letters (sqlite_dead.c) ---- */
boxcar_status sqlite_dead_page(struct boxcar_store *store, const boxcar_dead_filter *filter, int limit,
                               boxcar_work_id after, struct boxcar_message_list **ret_list,
                               boxcar_error *err);
boxcar_status sqlite_dead_act(struct boxcar_store *store, const boxcar_dead_filter *filter,
                              enum dead_action action, boxcar_str note, int limit, boxcar_work_id *cursor,
                              int64_t *ret_count, boxcar_error *err);
boxcar_status sqlite_cancel(struct boxcar_store *store, boxcar_box box, boxcar_message_ref ref,
                            boxcar_error *err);
boxcar_status sqlite_dead_remove(struct sqlite_store *store, int64_t work_id, bool *ret_removed,
                                 boxcar_error *err);

/* Makes one dead letter ready again. *ret_counted: it is a step that a join has counted. */
boxcar_status sqlite_dead_replay_one(struct sqlite_store *store, int64_t work_id, bool *ret_found,
                                     bool *ret_counted, boxcar_error *err);

/* Removes messages that have ended, with their history; their numbers are never used again. */
boxcar_status sqlite_message_remove(struct sqlite_store *store, int64_t first, int64_t last,
                                    boxcar_error *err);

/* ---- events (sqlite_event.c) ---- */
boxcar_status sqlite_event_append(struct boxcar_store *store, boxcar_str stream, int64_t expected_version,
                                  const boxcar_new_event *events, size_t count,
                                  boxcar_appended *ret_appended, boxcar_error *err);
boxcar_status sqlite_event_read(struct boxcar_store *store, boxcar_str stream, int64_t from_version, int limit,
                                struct boxcar_event_list **ret_list, boxcar_error *err);
boxcar_status sqlite_event_read_all(struct boxcar_store *store, const boxcar_event_filter *filter,
                                    struct boxcar_event_list **ret_list, boxcar_error *err);

/* A number kept among the settings that is none of them. */
#define SQLITE_PARTITIONS_IN_USE "partitions_in_use"

/* ---- upkeep (sqlite_maintain.c, sqlite_audit.c, sqlite_setting.c) ---- */
boxcar_status sqlite_maintain(struct boxcar_store *store, boxcar_maintenance *ret_maintenance,
                              boxcar_error *err);
boxcar_status sqlite_upkeep(struct boxcar_store *store, boxcar_upkeep *ret_upkeep, boxcar_error *err);
/* The same in a transaction of the caller. */
boxcar_status sqlite_upkeep_look(struct sqlite_store *store, boxcar_upkeep *ret_upkeep, boxcar_error *err);
boxcar_status sqlite_audit(struct boxcar_store *store, bool repair, boxcar_audit *ret_audit,
                           boxcar_error *err);
boxcar_status sqlite_settings_read(struct boxcar_store *store, struct setting_value_list *ret_list,
                                   boxcar_error *err);
boxcar_status sqlite_setting_write(struct boxcar_store *store, const struct setting_value *value,
                                   boxcar_error *err);
boxcar_status sqlite_setting_reset(struct boxcar_store *store, boxcar_str name, boxcar_error *err);
/* What an operator should know (sqlite_diagnose.c), and which rows Boxcar did not write (sqlite_rows.c). */
struct findings;
boxcar_status sqlite_check_rows(struct sqlite_store *store, struct findings *findings, boxcar_error *err);
/* sqlite_diagnose_turn.c: whether the file can be written just now, and who keeps others from it. path: NULL = in memory */
void sqlite_check_turn(struct sqlite_store *store, const char *path, struct findings *findings);
/* That the WAL has grown so much, and which other process keeps it from starting over. */
void sqlite_report_reader(const char *path, int64_t wal_bytes, boxcar_severity severity, struct findings *findings);
boxcar_status sqlite_diagnose(struct boxcar_store *store, boxcar_box box,
                              struct boxcar_finding_list **ret_list, boxcar_error *err);
/* The settings that rule messages; read once a transaction. */
boxcar_status sqlite_settings_load(struct sqlite_store *store, boxcar_error *err);
/* Refuses a payload or headers that are larger than the settings allow. */
boxcar_status sqlite_check_sizes(struct sqlite_store *store, boxcar_str payload, boxcar_str headers, boxcar_error *err);
/* The same for the metadata of a join: as a payload. */
boxcar_status sqlite_check_metadata(struct sqlite_store *store, boxcar_str metadata, boxcar_error *err);

#endif
