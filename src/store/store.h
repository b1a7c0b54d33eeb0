/* The seam: what Boxcar needs of a database. Two tables of functions implement it, one
 * conformance suite (tests/conformance) defines it, and nothing above knows which one it
 * talks to.
 *
 * Contract for every operation: arguments have been validated; `ret_` outputs are written
 * only on success; each call is one transaction unless it says otherwise; deadlocks,
 * serialization failures and busy files are retried inside; times come from the database's
 * clock, read once per call. */
#ifndef BOXCAR_STORE_STORE_H
#define BOXCAR_STORE_STORE_H

#include "boxcar/dead_letter.h"
#include "boxcar/doctor.h"
#include "boxcar/event.h"
#include "boxcar/fanout.h"
#include "boxcar/inbox.h"
#include "boxcar/inspect.h"
#include "boxcar/instance.h"
#include "boxcar/join.h"
#include "boxcar/log.h"
#include "boxcar/maintain.h"
#include "boxcar/schedule.h"
#include "boxcar/store.h"
#include "boxcar/stream.h"
#include "boxcar/subscription.h"
#include "request.h"

struct attempt_rows {
    LIST_OF(boxcar_attempt);
};

struct stats_rows {
    LIST_OF(boxcar_stats);
};

struct finding_rows {
    LIST_OF(boxcar_finding);
};

struct join_rows {
    LIST_OF(boxcar_join);
};

struct join_member_rows {
    LIST_OF(boxcar_join_member);
};

struct inbox_receipt_rows {
    LIST_OF(boxcar_inbox_receipt);
};

struct event_rows {
    LIST_OF(boxcar_event);
    int64_t position; /* how far it has looked */
};

struct subscription_rows {
    LIST_OF(boxcar_subscription);
};

struct schedule_rows {
    LIST_OF(boxcar_schedule);
};

struct slice_rows {
    LIST_OF(boxcar_slice);
};

struct stream_rows {
    LIST_OF(boxcar_stream);
};

struct stream_rule_rows {
    LIST_OF(boxcar_stream_rule);
};

struct instance_rows {
    LIST_OF(boxcar_instance);
};

/* What an operation did to a join. */
struct join_change {
    bool counted;     /* a step was counted by this call */
    bool ended;       /* the join ended by this call */
    boxcar_join join; /* as it is afterwards; without its texts */
};

/* A setting as a store keeps it: only those that differ from their default. */
struct setting_value {
    boxcar_str name;
    double number;   /* 0 for a text */
    boxcar_str text; /* absent for a number */
    bool is_default; /* of a write: the default is restored; number and text do not count */
};

struct setting_value_list {
    LIST_OF(struct setting_value);
};

/* A choice of messages. One of them is set: `filter`, `dead`, or else `ref`. */
struct message_choice {
    const boxcar_message_filter *filter; /* a page of any messages */
    const boxcar_dead_filter
        *dead; /* dead letters, newest first: at most `limit` of those older than `after` */
    int limit;
    boxcar_work_id after; /* 0 = all */
    boxcar_box box;       /* of `ref` */
    boxcar_message_ref ref;
};

/* What can become of chosen messages: dead letters are replayed or purged, one message by its ref is
 * cancelled. */
enum message_action { MESSAGE_REPLAY, MESSAGE_PURGE, MESSAGE_CANCEL };

struct message_change {
    int64_t count;         /* of messages that were changed */
    boxcar_work_id oldest; /* of those that were looked at; 0 = the end */
};

enum transaction_step { TRANSACTION_BEGIN, TRANSACTION_COMMIT, TRANSACTION_ROLLBACK };

/* A step of a join ends. */
struct step_end {
    boxcar_message_id message_id;
    boxcar_member_status outcome; /* completed or failed */
};

/* What is asked about a key of the inbox. */
enum inbox_question {
    INBOX_IS_PROCESSED, /* true: its message has ended. The key is noted as seen */
    INBOX_ACCEPT,       /* true: it was not known as more than seen. It is done now */
};

#define EVENTS_BY_POSITION (-1) /* instead of a version to read from */

enum subscription_action {
    SUBSCRIPTION_ADD,
    SUBSCRIPTION_ADD_POLICY,
    SUBSCRIPTION_PAUSE,
    SUBSCRIPTION_RESUME,
    SUBSCRIPTION_ALTER,
    SUBSCRIPTION_REWIND,
    SUBSCRIPTION_REMOVE
};

/* What becomes of a subscription; each action looks at its own members. */
struct subscription_change {
    enum subscription_action action;
    boxcar_str name;                      /* of all actions */
    bool of_policy;                       /* PAUSE, RESUME, REWIND, REMOVE: the name is that of a policy, and
                                             all its subscriptions are meant, in one transaction. ALTER does not
                                             change the patterns of a policy's subscription, and REMOVE without
                                             this refuses it: BOXCAR_E_CONFLICT */
    const boxcar_new_subscription *given; /* ADD */
    const boxcar_new_fanout *policy; /* ADD_POLICY: a subscription NAME/DESTINATION for each destination, or
                                        one NAME/all with all of them if there is a then_topic */
    const boxcar_subscription_changes *changes; /* ALTER */
    boxcar_place place;                         /* REWIND */
    bool force;                                 /* REMOVE */
};

/* Which subscriptions are read. */
struct subscription_choice {
    boxcar_str name; /* absent = all */
    bool of_policy;  /* only those of policies; the name is then that of a policy */
    bool is_brief;   /* without figures: cheap, however much there is */
};

enum schedule_action { SCHEDULE_ADD, SCHEDULE_PAUSE, SCHEDULE_RESUME, SCHEDULE_COMPLETE, SCHEDULE_REMOVE };

struct schedule_change {
    enum schedule_action action;
    boxcar_str topic, work_key;
    const boxcar_new_schedule *given; /* ADD */
    int shard;                        /* COMPLETE */
    int64_t slice;                    /* COMPLETE */
};

enum stream_action { STREAM_RESUME, STREAM_REPLAY, STREAM_SKIP };

enum upkeep_task {
    UPKEEP_ROUND,  /* everything, a bounded piece of it */
    UPKEEP_WAITS,  /* some waits that are due and not leased: for workers that do not claim their topic */
    UPKEEP_AUDIT,  /* see boxcar/maintain.h */
    UPKEEP_REPAIR, /* the audit, with repair */
};

/* What a task did: each task fills one member. */
struct upkeep_done {
    boxcar_maintenance round;
    int64_t waits; /* 0 = there were none */
    boxcar_audit audit;
};

/* What programs watch about a store as a whole. */
struct store_facts {
    boxcar_upkeep upkeep;
    int64_t violations; /* messages acked before an earlier one of their stream */
};

/* The pattern that every topic matches. */
static const boxcar_str EVERY_TOPIC = {"*", 1};

/* A worker in one of its boxes, as others see it. All borrowed. */
struct instance {
    boxcar_owner owner;
    boxcar_box box;  /* or the number of the subscription that it serves */
    bool no_box;     /* no box is named: what is registered of the owner is brought up to date; an owner
                        that is not known is registered in both boxes, without topics */
    boxcar_str host; /* for people */
    int64_t pid;
    int concurrency;
    const boxcar_str *topics; /* the patterns it handles; `*`: every topic; NULL: those it registered before,
                                 or none */
    size_t topic_count;
};

/* A claimer that waits for work. */
struct nap {
    boxcar_owner owner;
    struct {                      /* by box: where messages arrive */
        boxcar_box reader;        /* for whom: the index itself, or a subscription of this box */
        bool awaited;             /* work in this box would wake it ... */
        const boxcar_str *topics; /* ... if it has one of these topics */
        size_t topic_count;
    } boxes[BOXES];
    int64_t longest_ms;
    int wake_fd; /* readable = get up at once; -1 = none */
};

/* Where an operation takes a boxcar_box, it may be the number of a subscription, unless it is about storing
 * messages. If there is none with this number: store_refuse_reader(). */
struct store_ops {
    const char *kind; /* "sqlite", "postgres" */

    void (*close)(struct boxcar_store *store); /* frees the store */
    boxcar_status (*deploy)(struct boxcar_store *store, boxcar_deployment *ret_deployment, boxcar_error *err);

    boxcar_status (*process)(struct boxcar_store *store, const struct request *request,
                             struct result *ret_result, boxcar_error *err);

    /* A transaction that spans calls, for handlers. Between begin and commit or rollback, process()
     * is part of it and nothing is retried or reconnected; begin itself may reconnect. commit:
     * BOXCAR_E_TRANSACTION when the transaction is not open any more or is aborted (it is rolled back
     * then), err->outcome_unknown when the connection broke before the answer came. rollback: never fails. */
    boxcar_status (*transaction)(struct boxcar_store *store, enum transaction_step step, boxcar_error *err);

    /* Waits until something for these boxes and topics may have become ready, nap->wake_fd is readable, or
     * nap->longest_ms is over, whichever comes first. It may return early for no reason; a store
     * that cannot tell just waits. Costs enqueueing programs nothing measurable. */
    void (*sleep)(struct boxcar_store *store, const struct nap *nap);

    /* Whether no message of these topics is ready, leased to any owner, or waiting for a time within the
     * next horizon_ms. Messages due later, and those behind a head that is, do not count; nor do
     * messages of wait_topic that are not due now: the joins they wait for are open. */
    boxcar_status (*is_drained)(struct boxcar_store *store, boxcar_box box, const boxcar_str *topics,
                                size_t topic_count, boxcar_str wait_topic, int64_t horizon_ms,
                                bool *ret_drained, boxcar_error *err);

    /* Messages. Lists are allocated with malloc and owned by the caller. read: a ref gives its message with
     * the payload, or BOXCAR_E_NOT_FOUND; pages come without payloads. change: one transaction. A run through
     * all dead letters continues after message_change.oldest, so it ends even if some die again meanwhile. */
    boxcar_status (*message_read)(struct boxcar_store *store, const struct message_choice *choice,
                                  struct message_rows **ret_list, boxcar_error *err);
    boxcar_status (*message_change)(struct boxcar_store *store, const struct message_choice *choice,
                                    enum message_action action, boxcar_str note,
                                    struct message_change *ret_change, boxcar_error *err);
    /* The work ids of messages of a box, in the order of their ids; 0 = the box has no such message. */
    boxcar_status (*work_ids)(struct boxcar_store *store, boxcar_box box, const boxcar_message_id *ids,
                              size_t count, boxcar_work_id *ret_ids, boxcar_error *err);
    /* attempts: of the main reader of the message's box, or of a subscription (from 2 on). */
    boxcar_status (*attempts)(struct boxcar_store *store, boxcar_box reader, boxcar_work_id work_id,
                              struct attempt_rows **ret_list, boxcar_error *err);
    boxcar_status (*stats)(struct boxcar_store *store, boxcar_box box, bool by_topic,
                           struct stats_rows **ret_list, boxcar_error *err);

    /* Joins; see boxcar/join.h for what each refuses. start: join_id is set, an existing one is left
     * alone. attach: ret_attached has room for `count`; all or none. end: a step of it; NULL = the join is
     * cancelled. wait: settles the join, then enqueues `message`, whose topic is left to the store (its
     * setting join_wait_topic). Settling counts members whose message had ended before they were attached.
     * page: join_id set = just that one, whatever the filter says: BOXCAR_E_NOT_FOUND when there is none. */
    boxcar_status (*join_start)(struct boxcar_store *store, const boxcar_new_join *join, boxcar_error *err);
    boxcar_status (*join_attach)(struct boxcar_store *store, boxcar_join_id join_id,
                                 const boxcar_message_id *message_ids, size_t count,
                                 boxcar_attached *ret_attached, boxcar_error *err);
    boxcar_status (*join_end)(struct boxcar_store *store, boxcar_join_id join_id, const struct step_end *step,
                              struct join_change *ret_change, boxcar_error *err);
    boxcar_status (*join_wait)(struct boxcar_store *store, boxcar_join_id join_id,
                               const boxcar_new_message *message, boxcar_enqueued *ret_enqueued,
                               struct join_change *ret_change, boxcar_error *err);
    boxcar_status (*join_page)(struct boxcar_store *store, const boxcar_join_filter *filter,
                               boxcar_join_id join_id, struct join_rows **ret_list, boxcar_error *err);
    boxcar_status (*join_members)(struct boxcar_store *store, boxcar_join_id join_id, boxcar_message_id after,
                                  int limit, struct join_member_rows **ret_list, boxcar_error *err);

    /* The inbox, but for its messages, which go with a request; see boxcar/inbox.h. ask: INBOX_ACCEPT is
     * never sent twice. find: BOXCAR_E_NOT_FOUND. */
    boxcar_status (*inbox_ask)(struct boxcar_store *store, const struct inbox_origin *origin,
                               enum inbox_question question, bool *ret_answer, bool *ret_hash_mismatch,
                               boxcar_error *err);
    boxcar_status (*inbox_find)(struct boxcar_store *store, boxcar_inbox_key key,
                                struct inbox_receipt_rows **ret_list, boxcar_error *err);

    /* Events; see boxcar/event.h. append: every event has its id, duplicates are told by the store. read:
     * events of just the stream that the filter names, from this version on, by versions. EVENTS_BY_POSITION:
     * those that the filter chooses, by positions; the list says how far it has looked. */
    boxcar_status (*event_append)(struct boxcar_store *store, boxcar_str stream, int64_t expected_version,
                                  const boxcar_new_event *events, size_t count, boxcar_appended *ret_appended,
                                  boxcar_error *err);
    boxcar_status (*event_read)(struct boxcar_store *store, const boxcar_event_filter *filter,
                                int64_t from_version, struct event_rows **ret_list, boxcar_error *err);

    /* Streams; see boxcar/stream.h for what each refuses. page: `stream` set = just that one, whatever the
     * filter says of keys. change: *ret_work_id is the message that a skip gave up. rule_write:
     * BOXCAR_STREAM_DEFAULT removes the rule; BOXCAR_E_NOT_FOUND when there is none. */
    boxcar_status (*stream_page)(struct boxcar_store *store, const boxcar_stream_filter *filter,
                                 boxcar_str stream, struct stream_rows **ret_list, boxcar_error *err);
    boxcar_status (*stream_change)(struct boxcar_store *store, boxcar_box box, boxcar_str stream,
                                   enum stream_action action, boxcar_work_id *ret_work_id, boxcar_error *err);
    boxcar_status (*stream_rule_write)(struct boxcar_store *store, boxcar_str pattern,
                                       boxcar_stream_policy policy, boxcar_error *err);
    boxcar_status (*stream_rules)(struct boxcar_store *store, struct stream_rule_rows **ret_list,
                                  boxcar_error *err);

    /* Subscriptions; see boxcar/subscription.h for what each refuses. change: *ret_reader is the number,
     * *ret_count how many messages are ahead after a rewind. read: by name. */
    boxcar_status (*subscription_change)(struct boxcar_store *store, const struct subscription_change *change,
                                         boxcar_box *ret_reader, int64_t *ret_count, boxcar_error *err);
    boxcar_status (*subscription_read)(struct boxcar_store *store, const struct subscription_choice *choice,
                                       struct subscription_rows **ret_list, boxcar_error *err);

    /* Scheduled fanout; see boxcar/schedule.h for what each refuses. change: *ret_changed is what COMPLETE
     * did. read: the topic absent = all. slices: those of one schedule. */
    boxcar_status (*schedule_change)(struct boxcar_store *store, const struct schedule_change *change,
                                     bool *ret_changed, boxcar_error *err);
    boxcar_status (*schedule_plan)(struct boxcar_store *store, const boxcar_plan *plan,
                                   boxcar_planned *ret_planned, boxcar_error *err);
    boxcar_status (*schedule_read)(struct boxcar_store *store, boxcar_str topic, boxcar_str work_key,
                                   struct schedule_rows **ret_list, boxcar_error *err);
    boxcar_status (*schedule_slices)(struct boxcar_store *store, boxcar_str topic, boxcar_str work_key,
                                     struct slice_rows **ret_list, boxcar_error *err);

    /* Instances say that they live (again and again, for each box they serve) and that they go by a request.
     * A call that names the owner of one is a sign of life, too, in both boxes. Those silent in every way for
     * longer than the setting instance_timeout are removed, by maintenance and by requests that ask for it.
     */
    boxcar_status (*instances)(struct boxcar_store *store, struct instance_rows **ret_list,
                               boxcar_error *err);

    /* The store as a whole. maintain: one task; the joins that it ended are logged. diagnose: what an
     * operator should know; see boxcar/doctor.h. tries_claim: makes a claim and takes it back, for which it
     * needs the claimers' turn (SQLite: the write lock). Workers do not ask for that: they claim all the
     * time. */
    boxcar_status (*maintain)(struct boxcar_store *store, enum upkeep_task task, struct upkeep_done *ret_done,
                              boxcar_error *err);
    boxcar_status (*diagnose)(struct boxcar_store *store, boxcar_box box, bool tries_claim,
                              struct finding_rows **ret_list, boxcar_error *err);
    boxcar_status (*facts)(struct boxcar_store *store, struct store_facts *ret_facts, boxcar_error *err);
    boxcar_status (*settings_read)(struct boxcar_store *store, struct setting_value_list *ret_list,
                                   boxcar_error *err);
    boxcar_status (*setting_write)(struct boxcar_store *store, const struct setting_value *value,
                                   boxcar_error *err);
};

/* Joins that have ended, without their texts. The items are malloc'ed. */
struct ended_list {
    boxcar_join *items;
    size_t count, capacity;
};

/* What every store begins with; the backends embed it as their first member. */
struct boxcar_store {
    const struct store_ops *ops;
    boxcar_log_fn log;
    void *log_context;
    _Atomic int log_level; /* boxcar_log_level; a worker changes it while its threads log */
    bool impatient;        /* a lost connection is reported at once instead of waited for; the next call
                              tries to connect, once. For callers that have something better to do. */
    int64_t call_ms;       /* of an impatient store: the longest that one call may wait for others or for an
                              answer; 0 = as long as the options allow. It logs no changes of state: its caller
                              does. */
    const _Atomic bool
        *is_over; /* of an impatient store for upkeep: until this is true, calls that are known to be long
                     may be; then they end like the others. NULL = no call may be long */
    bool is_down; /* the loss was logged and the return was not yet: one line per change */
    boxcar_deployment deployment; /* the last that was asked for: when it was opened, or later */
    char *id;                     /* for logs; malloc'ed, freed by the backend's close */
    bool holds_ends;              /* between begin and commit: ends of joins are logged by the commit */
    struct ended_list ends;       /* those; see join_log.h */
};

/* Whether a record of this level would be logged: ask before making the fields. */
static inline bool store_logs(const struct boxcar_store *store, boxcar_log_level level) {
    return store->log && (int)level >= store->log_level;
}

/* BOXCAR_E_NOT_FOUND with the argument "subscription": no reader has this number; no subscription has this
 * name. With "fanout": no policy has it. With "schedule": there is none. */
boxcar_status store_refuse_reader(boxcar_box reader, boxcar_error *err);
boxcar_status store_refuse_subscription(boxcar_str name, boxcar_error *err);
boxcar_status store_refuse_policy(boxcar_str name, boxcar_error *err);
boxcar_status store_refuse_schedule(boxcar_str topic, boxcar_str work_key, boxcar_error *err);

/* As ops->message_read; each message says whose delivery it is. */
boxcar_status message_rows_read(struct boxcar_store *store, const struct message_choice *choice,
                                struct message_rows **ret_list, boxcar_error *err);

/* Hands a record to the store's log function, if it wants such. */
void store_log(const struct boxcar_store *store, boxcar_log_level level, const char *event,
               const boxcar_log_field *fields, size_t field_count, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* After a replay: `count` of the messages are steps that joins have counted, which stays so. */
void store_log_replayed_steps(const struct boxcar_store *store, int64_t count);

/* The schema version both stores deploy: the number of their newest migration; and the
 * oldest program (by schema version) that may use such a store. */
#define STORE_SCHEMA_VERSION 16

/* The oldest schema version that a deployment can bring up to date. Earlier ones were never released;
 * migrations 1 to 9 make version 9 at once (decision 43). */
#define STORE_OLDEST_UPGRADE 9

/* BOXCAR_E_VERSION: the store is older than that. 0 = there is no store yet. */
boxcar_status store_check_upgradable(int schema_version, boxcar_error *err);

#endif
