/* The PostgreSQL store: its state, and what its files share.
 *
 * Layers inside: pg_connection (connect, reconnect, send) and pg_error (SQLSTATE to status)
 * below; pg_params and pg_rows (binary formats); above them one file per group of operations. */
#ifndef BOXCAR_STORE_POSTGRES_PG_STORE_H
#define BOXCAR_STORE_POSTGRES_PG_STORE_H

#include <libpq-fe.h>

#include "pg_params.h"
#include "store/store.h"
#include "store/stream_log.h"

/* Every statement that is sent, by name. The texts are in pg_statement.c. */
enum pg_statement {
    PG_STORE_INFO,
    PG_BEGIN,
    PG_COMMIT,
    PG_ENQUEUE,
    PG_ENQUEUE_PLAIN,
    PG_ENQUEUE_ONE,
    PG_HOLD_KEYS,
    PG_ACK,
    PG_ABANDON,
    PG_DEFER,
    PG_FAIL,
    PG_RESOLVE,
    PG_RENEW,
    PG_REAP,
    PG_CLAIM,
    PG_BEFORE_CLAIMS,
    PG_GIVE_BACK_CLAIM,
    PG_BURY_EXPIRED,
    PG_BURY_MALFORMED,
    PG_WAS_SETTLED,
    PG_ADOPT,
    PG_FIND,
    PG_PAGE,
    PG_ATTEMPTS,
    PG_STATS,
    PG_DEAD_PAGE,
    PG_DEAD_ACT,
    PG_CANCEL,
    PG_MAINTAIN,
    PG_UPKEEP,
    PG_EXPIRE_FRESH,
    PG_AUDIT,
    PG_SETTINGS,
    PG_SET,
    PG_LOCK_AHEAD,
    PG_JOINS_ENDED,
    PG_JOIN_START,
    PG_ATTACH,
    PG_JOIN_REPORT,
    PG_JOIN_CANCEL,
    PG_JOIN_WAIT,
    PG_EVALUATE_WAITS,
    PG_JOIN_FIND,
    PG_JOIN_PAGE,
    PG_JOIN_MEMBERS,
    PG_INBOX_ENQUEUE,
    PG_INBOX_ENQUEUE_ONE,
    PG_INBOX_LOOK,
    PG_INBOX_ACCEPT,
    PG_INBOX_FIND,
    PG_EVENT_APPEND,
    PG_EVENT_READ,
    PG_EVENT_READ_ALL,
    PG_SEQUENCE_EVENTS,
    PG_RECORD_STAGES,
    PG_REGISTER,
    PG_BEAT_ALONE,
    PG_REMOVE_STALE,
    PG_STREAM_PAGE,
    PG_STREAM_HEAD,
    PG_HALTED_BY,
    PG_RESUME_HALT,
    PG_STREAM_RULE,
    PG_STREAM_RULES,
    PG_STREAM_VIOLATIONS,
    PG_INSTANCES,
    PG_HEARTBEAT,
    PG_FAREWELL,
    PG_FALL_ASLEEP,
    PG_GET_UP,
    PG_IS_DRAINED,
    PG_CLOCK,
    PG_SERVER,
    PG_SCHEMA_RIGHTS,
    PG_CHECKUP,
    PG_LIVE_HOSTS,
    PG_LIVE_PATTERNS,
    PG_READY_TOPICS,
    PG_SNAPSHOT_HOLDERS,
    PG_STREAM_HOLDERS,
    PG_TABLE_HEALTH,
    PG_CLAIM_BLOCKERS,
    PG_TRY_CLAIM,
    PG_STATEMENTS
};

/* What a session knows about being woken (pg_sleep.c); gone with the connection. */
struct pg_rest {
    bool listening;
    bool refused;       /* the server would not let us sleep: wait without it */
    bool heard;         /* a notification came that nobody has reacted to */
    int64_t until_ms;   /* producers take us for asleep until then (monotonic); 0 = they do not */
    uint64_t nap;       /* a digest of who sleeps and for which topics */
    bool awaited[BOXES]; /* which boxes */
};

/* A claim whose answer did not arrive (pg_lost.c). */
struct pg_lost_claim {
    boxcar_owner owner;
    boxcar_box box;
    int64_t number;
    int64_t next_ms, pause_ms; /* when the server is asked next (monotonic), and again after that */
    int64_t until_ms;          /* the lease has ended by then */
};
#define PG_LOST_MAX 16

/* Who was in the way of claims that waited in vain (pg_blocker.h); 0 = nobody yet. */
struct pg_held_up {
    uint64_t seen; /* the last time */
    uint64_t told; /* to the log ... */
    int64_t told_at_ms;
};

/* How long the server may be silent: as the options say, much longer, or less. */
enum pg_pace { PG_ORDINARY, PG_LONG, PG_CONNECTING };

struct pg_store {
    struct boxcar_store base;
    PGconn *conn;
    bool borrowed; /* the connection is the caller's: never reopen, begin or commit */
    bool begun;    /* pg_begin() was called: until it is ended, calls are part of that transaction */
    char *url;
    char *schema;                 /* validated, not quoted */
    int64_t patience_ms;          /* how long a call waits for a lost connection */
    int64_t answer_ms;            /* how long the server may be silent while a call waits for it; 0 = for ever */
    enum pg_pace pace;            /* of what is under way */
    int64_t silent_ms;            /* the connection was cut after a silence this long; 0 = it was not */
    bool malformed;               /* an answer on it could not be read: it is not used any more */
    char *sql[PG_STATEMENTS];     /* with the schema's quoted name in them */
    uint32_t session;             /* a random number, new with every connection */
    bool was_connected;           /* at least once */
    bool own_session;             /* ours alone, no pooler between */
    bool begins_claims;           /* a transaction is not READ COMMITTED unless its beginning says so */
    bool keeps_statements;        /* as far as that allows: statements can be prepared in it */
    unsigned uses[PG_STATEMENTS]; /* in this session; from the second on a statement is prepared */
    struct pg_rest rest;
    struct pg_held_up held_up[BOXES];
    struct halted_list halted;    /* by the transaction that is being answered */
    uint64_t claim_number;        /* of the last claim; 0 = none was made yet */
    struct pg_lost_claim lost[PG_LOST_MAX];
    size_t lost_count;
    PGresult *ended_before;       /* the joins that the caller's transaction had ended before this call; NULL = none */
};

static inline struct pg_store *pg_store_of(struct boxcar_store *store) { return (struct pg_store *)store; }

/* pg_statement.c */
#define PG_DOCTOR_FUNCTIONS 10
boxcar_status pg_statements_make(struct pg_store *pg, boxcar_error *err);
void pg_statements_free(struct pg_store *pg);
/* Whether it looks at many rows: the server gets more time for it. */
bool pg_statement_is_long(enum pg_statement statement);
/* A text with :"schema", :'schema', :hot and :pinned filled in; malloc'ed, NULL = no memory. */
char *pg_fill_in(const char *text, const char *schema);

/* pg_error.c: describes why a result or the connection failed. Never quotes parameters. */
boxcar_status pg_error_from_result(struct pg_store *pg, const PGresult *result, boxcar_error *err);
boxcar_status pg_error_from_connection(struct pg_store *pg, boxcar_error *err);
/* pg_refusal.c: the same for a connection that could not be made, after asking the server once more for its SQLSTATE: a
 * wrong password is BOXCAR_E_DENIED, a database that does not exist BOXCAR_E_NOT_FOUND. Only for the first connection of
 * a store; later ones are worth a retry, whatever the server says. */
boxcar_status pg_explain_refusal(struct pg_store *pg, const char *const *keywords, const char *const *values,
                                 boxcar_error *err);
/* pg_access.c: the least access that the function named at the end of this message needs, NULL = it is none of ours;
 * and whether workers need it, too. */
const char *pg_access_needed(const char *message, bool *ret_for_workers);
/* Would the same request have a chance if it were simply repeated now? */
bool pg_error_is_transient(const boxcar_error *err);
bool pg_error_is_lock_timeout(const boxcar_error *err); /* a lock did not come in time */
/* A prepared statement is gone (DISCARD, DEALLOCATE), or a deployment changed what it returns. */
bool pg_error_is_stale_statement(const boxcar_error *err);
/* The server goes down or comes up: as good as no connection. */
bool pg_error_is_shutdown(const boxcar_error *err);
bool pg_error_is_isolation(const boxcar_error *err); /* BX004: a claim in a transaction that is not READ COMMITTED */
bool pg_error_is_foreign(const boxcar_error *err); /* BX005: restored from elsewhere */

/* pg_url.c: BOXCAR_E_INVALID for a URL that libpq could not read; never repeats it. */
boxcar_status pg_check_url(const char *url, boxcar_error *err);

/* pg_notice.c: what the server says beside its answers; `context` is the store. When a transaction has ended it is
 * logged, or forgotten if that failed. */
void pg_notice_receive(void *context, const PGresult *notice);
void pg_notice_tell(struct pg_store *pg, boxcar_status status);

/* pg_connection.c */
boxcar_status pg_connect(struct pg_store *pg, boxcar_error *err);
bool pg_is_connected(const struct pg_store *pg);
void pg_disconnect(struct pg_store *pg);
/* For the start of a call: connects if there is no connection. BOXCAR_E_TRANSACTION when a transaction
 * that was begun is not open any more. */
boxcar_status pg_ready(struct pg_store *pg, boxcar_error *err);
/* After a loss in the middle of a call: connects again, patiently, and says so in the log. `status` and
 * `err` describe the loss; an impatient store just passes them on. */
boxcar_status pg_reconnect(struct pg_store *pg, boxcar_status status, boxcar_error *err);
/* The transaction is somebody else's business: never reconnect, retry, begin or commit. */
bool pg_is_joined(const struct pg_store *pg);
bool pg_in_transaction(const struct pg_store *pg); /* such a one */
boxcar_status pg_send(struct pg_store *pg, enum pg_statement statement, const struct pg_params *params,
                      boxcar_error *err);
/* Prepares a statement that is going to be used again, if the session is ours. Between pg_talk_begin() and the end, not
 * in a pipeline. */
void pg_prepare(struct pg_store *pg, enum pg_statement statement);
/* One statement as a transaction of its own (or in the caller's), repeated after deadlocks and
 * lost connections; only for what may safely run twice. The caller clears *ret_result. */
boxcar_status pg_query(struct pg_store *pg, enum pg_statement statement, const struct pg_params *params,
                       PGresult **ret_result, boxcar_error *err);
/* The same; *ret_repeated: the answer to a first try was lost, which may have done what the second then found
 * done. */
boxcar_status pg_query_telling(struct pg_store *pg, enum pg_statement statement,
                               const struct pg_params *params, PGresult **ret_result, bool *ret_repeated,
                               boxcar_error *err);
/* The same for what must not run twice: a connection that is lost meanwhile is an error, outcome unknown. */
boxcar_status pg_query_unrepeated(struct pg_store *pg, enum pg_statement statement,
                                  const struct pg_params *params, PGresult **ret_result, boxcar_error *err);
/* The same once, without connecting first or trying again. */
boxcar_status pg_query_once(struct pg_store *pg, enum pg_statement statement, const struct pg_params *params,
                            PGresult **ret_result, boxcar_error *err);
/* A pause that grows with `round` and is never the same for two. */
void pg_pause(int round);

/* pg_lost.c: claims whose answer did not arrive. A number for the next claim; 0 = there is none (no randomness), then
 * nothing is noted either. pg_give_back_lost() asks the server for those that are due, outside of transactions. */
int64_t pg_claim_number(struct pg_store *pg);
void pg_note_lost_claim(struct pg_store *pg, boxcar_owner owner, boxcar_box box, int64_t number, int64_t lease_ms);
void pg_give_back_lost(struct pg_store *pg);

/* pg_wait.c: waiting for the server, never for ever. Each exchange stands between begin and end, which gets what begin
 * returned; a connection of ours that was cut meanwhile is closed at the end. */
bool pg_talk_begin(struct pg_store *pg);
void pg_talk_end(struct pg_store *pg, bool was_nonblocking);
/* Sends what is unsent and waits until the next result is there, or the connection is lost or cut. */
void pg_await(struct pg_store *pg);
/* pg_await() and PQgetResult(). */
PGresult *pg_next_result(struct pg_store *pg);
/* All results of one request, of which the first failure counts, or else the first. NULL = the connection is lost. */
PGresult *pg_receive(struct pg_store *pg);
/* As PQexec(), with a begin and an end of its own. */
PGresult *pg_run_text(struct pg_store *pg, const char *text);
/* How long connecting may take, for libpq. */
int pg_connect_seconds(const struct pg_store *pg);
/* The server was silent for too long or talked nonsense, and nothing has been connected since. */
bool pg_is_cut(const struct pg_store *pg);

/* pg_shape.c: a statement's answer has the columns and rows that the functions below read, each field of its type and
 * length. Else BOXCAR_E_STORE; the connection is given up, and whether the statement took effect is not known. */
boxcar_status pg_check_answer(struct pg_store *pg, enum pg_statement statement, const PGresult *result,
                              boxcar_error *err);
/* The same for what no shape says. */
boxcar_status pg_malformed(struct pg_store *pg, const char *why, boxcar_error *err);
/* The one text of an answer to pg_run_text(); NULL = it has none, or more. */
const char *pg_only_text(const PGresult *result);

static inline void pg_result_cleanup(PGresult **result) { PQclear(*result); }
#define AUTO_RESULT __attribute__((cleanup(pg_result_cleanup)))
#define AUTO_PARAMS __attribute__((cleanup(pg_params_release)))

/* pg_rows.c: reading binary results that pg_check_answer() has found good. */
int64_t pg_get_int8(const PGresult *result, int row, int column);
int pg_get_int4(const PGresult *result, int row, int column);
int pg_get_int2(const PGresult *result, int row, int column);
bool pg_get_bool(const PGresult *result, int row, int column);
double pg_get_float8(const PGresult *result, int row, int column);
boxcar_time pg_get_time(const PGresult *result, int row, int column);
boxcar_str pg_get_text(const PGresult *result, int row, int column); /* lent by the result */
void pg_get_uuid(const PGresult *result, int row, int column, uint8_t ret_uuid[16]);
/* An int8[] in one field. */
boxcar_status pg_get_work_ids(const PGresult *result, int row, int column, struct arena *arena,
                              struct work_id_list *ret_list, boxcar_error *err);
/* Rows of claimed_message and of _item. Texts are lent by `result`, which the caller attaches to
 * the arena the messages live in. */
void pg_read_claimed(const PGresult *result, int row, boxcar_message *ret_message);
void pg_read_item(const PGresult *result, int row, boxcar_message *ret_message);
/* Joins that the caller's own transaction had ended before this call, which are not told again: looked for before a call
 * that pg_log_ended() follows, and by a batch. */
bool pg_shares_ends(const struct pg_store *pg);
void pg_look_for_ends(struct pg_store *pg);
void pg_forget_ends(struct pg_store *pg);
bool pg_had_ended(const struct pg_store *pg, boxcar_join_id join_id);
/* Says in the log that these joins have ended: a uuid[] in one field. */
void pg_log_ended(struct pg_store *pg, const PGresult *result, int column);
/* Steps, status and reason of a join, in five columns from this one on. */
void pg_read_join_counts(const PGresult *result, int row, int column, boxcar_join *join);
/* The arena takes the result over, or it is cleared and false is returned (no memory). */
bool pg_attach_result(struct arena *arena, PGresult *result);
/* All rows as an array in the arena, which takes the result over too; NULL = no memory. */
typedef void pg_read_fn(const PGresult *result, int row, void *item);
void *pg_read_rows(PGresult *result, struct arena *arena, size_t item_size, pg_read_fn *read);
/* All rows as one of the lists of store.h, which begin all alike (struct pg_list). It takes the result over, also on
 * failure. */
#define PG_INTO_LIST(result, read, ret_list, err) \
    pg_rows_into_list((result), (read), sizeof(**(ret_list)), sizeof(*(*(ret_list))->items), (ret_list), (err))
boxcar_status pg_rows_into_list(PGresult *result, pg_read_fn *read, size_t list_size, size_t item_size,
                                void *ret_list, boxcar_error *err);
/* The same with rows of _item. */
boxcar_status pg_items_into_list(PGresult *result, struct boxcar_message_list **ret_list, boxcar_error *err);

/* An array of uuids: how many, and the i-th. */
size_t pg_get_uuid_count(const PGresult *result, int row, int column);
void pg_get_uuid_at(const PGresult *result, int row, int column, size_t i, uint8_t ret_uuid[16]);

/* The operations. */
boxcar_status pg_deploy(struct boxcar_store *store, boxcar_deployment *ret_deployment, boxcar_error *err);
/* Which functions and views this library brings. */
boxcar_status pg_digest_functions(char ret_digest[BOXCAR_UUID_TEXT_SIZE], boxcar_error *err);
/* Reads the store's version and refuses what this library does not know (BX-029). */
boxcar_status pg_check_version(struct pg_store *pg, boxcar_error *err);
/* Makes a restored store this server's own (BX005 is what others get); false = we may not, or could not. */
bool pg_adopt(struct pg_store *pg);
boxcar_status pg_process(struct boxcar_store *store, const struct batch *batch,
                         struct batch_result *ret_result, boxcar_error *err);
boxcar_status pg_begin(struct boxcar_store *store, boxcar_error *err);
boxcar_status pg_commit(struct boxcar_store *store, boxcar_error *err);
void pg_rollback(struct boxcar_store *store);
void pg_params_for_instance(struct pg_params *params, const struct instance *instance);
boxcar_status pg_heartbeat(struct boxcar_store *store, const struct instance *instance, boxcar_error *err);
boxcar_status pg_farewell(struct boxcar_store *store, boxcar_owner owner, boxcar_error *err);
void pg_sleep(struct boxcar_store *store, const struct nap *nap);
/* Takes in the notifications that have arrived, so that they do not pile up. */
void pg_hear(struct pg_store *pg);
boxcar_status pg_is_drained(struct boxcar_store *store, boxcar_box box, const boxcar_str *topics,
                            size_t topic_count, boxcar_str wait_topic, int64_t horizon_ms, bool *ret_drained,
                            boxcar_error *err);
boxcar_status pg_find(struct boxcar_store *store, boxcar_box box, boxcar_message_ref ref,
                      struct boxcar_message_list **ret_list, boxcar_error *err);
boxcar_status pg_page(struct boxcar_store *store, const boxcar_list_options *options,
                      struct boxcar_message_list **ret_list, boxcar_error *err);
boxcar_status pg_attempts(struct boxcar_store *store, boxcar_work_id work_id,
                          struct boxcar_attempt_list **ret_list, boxcar_error *err);
boxcar_status pg_stats(struct boxcar_store *store, boxcar_box box, bool by_topic,
                       struct boxcar_stats_list **ret_list, boxcar_error *err);
boxcar_status pg_dead_page(struct boxcar_store *store, const boxcar_dead_filter *filter, int limit,
                           boxcar_work_id after, struct boxcar_message_list **ret_list, boxcar_error *err);
boxcar_status pg_dead_act(struct boxcar_store *store, const boxcar_dead_filter *filter,
                          enum dead_action action, boxcar_str note, int limit, boxcar_work_id *cursor,
                          int64_t *ret_count, boxcar_error *err);
boxcar_status pg_cancel(struct boxcar_store *store, boxcar_box box, boxcar_message_ref ref,
                        boxcar_error *err);
boxcar_status pg_join_start(struct boxcar_store *store, const boxcar_new_join *join, boxcar_error *err);
boxcar_status pg_join_attach(struct boxcar_store *store, boxcar_join_id join_id,
                             const boxcar_message_id *message_ids, size_t count,
                             boxcar_attached *ret_attached, boxcar_error *err);
boxcar_status pg_join_report(struct boxcar_store *store, boxcar_join_id join_id, boxcar_message_id message_id,
                             boxcar_member_status outcome, struct join_change *ret_change, boxcar_error *err);
boxcar_status pg_join_cancel(struct boxcar_store *store, boxcar_join_id join_id,
                             struct join_change *ret_change, boxcar_error *err);
boxcar_status pg_join_wait(struct boxcar_store *store, boxcar_join_id join_id,
                           const boxcar_new_message *message, boxcar_enqueued *ret_enqueued,
                           struct join_change *ret_change, boxcar_error *err);
boxcar_status pg_evaluate_waits(struct boxcar_store *store, int64_t *ret_count, boxcar_error *err);
boxcar_status pg_join_find(struct boxcar_store *store, boxcar_join_id join_id,
                           struct boxcar_join_list **ret_list, boxcar_error *err);
boxcar_status pg_join_page(struct boxcar_store *store, const boxcar_join_filter *filter,
                           struct boxcar_join_list **ret_list, boxcar_error *err);
boxcar_status pg_join_members(struct boxcar_store *store, boxcar_join_id join_id, boxcar_message_id after,
                              int limit, struct boxcar_join_member_list **ret_list, boxcar_error *err);
boxcar_status pg_inbox_look(struct boxcar_store *store, const struct inbox_origin *origin, bool *ret_processed,
                            bool *ret_hash_mismatch, boxcar_error *err);
boxcar_status pg_inbox_accept(struct boxcar_store *store, const struct inbox_origin *origin, bool *ret_is_new,
                              bool *ret_hash_mismatch, boxcar_error *err);
boxcar_status pg_inbox_find(struct boxcar_store *store, boxcar_inbox_key key,
                            struct boxcar_inbox_receipt_list **ret_list, boxcar_error *err);
boxcar_status pg_event_append(struct boxcar_store *store, boxcar_str stream, int64_t expected_version,
                              const boxcar_new_event *events, size_t count, boxcar_appended *ret_appended,
                              boxcar_error *err);
boxcar_status pg_event_read(struct boxcar_store *store, boxcar_str stream, int64_t from_version, int limit,
                            struct boxcar_event_list **ret_list, boxcar_error *err);
boxcar_status pg_event_read_all(struct boxcar_store *store, const boxcar_event_filter *filter,
                                struct boxcar_event_list **ret_list, boxcar_error *err);
boxcar_status pg_stream_page(struct boxcar_store *store, const boxcar_stream_filter *filter, boxcar_str stream,
                             struct boxcar_stream_list **ret_list, boxcar_error *err);
boxcar_status pg_stream_resume(struct boxcar_store *store, boxcar_box box, boxcar_str stream, bool replay,
                               boxcar_error *err);
boxcar_status pg_stream_skip(struct boxcar_store *store, boxcar_box box, boxcar_str stream,
                             boxcar_work_id *ret_work_id, boxcar_error *err);
boxcar_status pg_stream_rule_write(struct boxcar_store *store, boxcar_str pattern, boxcar_stream_policy policy,
                                   boxcar_error *err);
boxcar_status pg_stream_rule_remove(struct boxcar_store *store, boxcar_str pattern, boxcar_error *err);
boxcar_status pg_stream_rules(struct boxcar_store *store, struct boxcar_stream_rule_list **ret_list,
                              boxcar_error *err);
boxcar_status pg_stream_violations(struct boxcar_store *store, int64_t *ret_count, boxcar_error *err);
boxcar_status pg_instances(struct boxcar_store *store, struct boxcar_instance_list **ret_list, boxcar_error *err);
boxcar_status pg_maintain(struct boxcar_store *store, boxcar_maintenance *ret_maintenance, boxcar_error *err);
boxcar_status pg_upkeep(struct boxcar_store *store, boxcar_upkeep *ret_upkeep, boxcar_error *err);
boxcar_status pg_audit(struct boxcar_store *store, bool repair, boxcar_audit *ret_audit, boxcar_error *err);
boxcar_status pg_settings_read(struct boxcar_store *store, struct setting_value_list *ret_list,
                               boxcar_error *err);
boxcar_status pg_setting_write(struct boxcar_store *store, const struct setting_value *value, boxcar_error *err);
boxcar_status pg_setting_reset(struct boxcar_store *store, boxcar_str name, boxcar_error *err);
boxcar_status pg_diagnose(struct boxcar_store *store, boxcar_box box, struct boxcar_finding_list **ret_list,
                          boxcar_error *err);

#endif
