/* A store in memory: messages, what became of each, every request as it was asked, and a script of answers
 * and failures. Coordinators store and settle in it, workers claim from it.
 *
 * The public functions only hand other operations down. Of these it remembers the arguments of the last call
 * and says what the script wants. memory_store.c does requests, memory_nouns.c everything else. */
#ifndef BOXCAR_TESTS_MEMORY_STORE_H
#define BOXCAR_TESTS_MEMORY_STORE_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/store.h"

#define MEMORY_IDS 4096 /* work ids from 1 on; one that is larger is leased to nobody */
#define MEMORY_CALLS 4096
#define MEMORY_ROOM 16 /* of what was asked last */

struct memory_message {
    boxcar_message_id id; /* if it was enqueued */
    boxcar_str topic;
    boxcar_str payload;
    char text[24], source[24]; /* payload and source of one that was enqueued */
    boxcar_box box;
    boxcar_str stream;
    int crash_count;
    bool leased;
    int64_t epoch;     /* of its lease; 0 = 1 */
    int settled;       /* times, by any kind but renew */
    size_t settled_in; /* which call of process() it was, the last time */
    int renewed;
    int stages; /* recorded */
    size_t recorded_in;
    boxcar_settle_kind kind; /* of the last settlement that took effect */
    boxcar_reason reason;
    int64_t delay_ms;
    char error[24];
};

/* One call of process(), as it was asked. */
struct memory_call {
    size_t messages, settlements, renewals, instances;
    int claim_size;      /* of both boxes together ... */
    int claim_of[BOXES]; /* ... and of each */
    boxcar_box readers[BOXES];
    size_t topic_count;     /* of the outbox's claim */
    boxcar_box instance_of; /* the reader of the first instance; -1 = there is none */
    bool sent_before, no_suspects;
    boxcar_status answer;
};

/* The arguments of the last call of each kind. Texts are the caller's. */
struct memory_asked {
    _Atomic int calls;      /* of any operation */
    struct request request; /* its messages and settlements: */
    boxcar_new_message messages[MEMORY_ROOM];
    boxcar_settlement settlements[MEMORY_ROOM]; /* of the last list of each place */
    boxcar_box box;                             /* of a ref, of work ids, or of a call about a stream */
    boxcar_message_ref ref;
    boxcar_message_filter message_filter;
    boxcar_dead_filter dead_filter;
    boxcar_str note;
    int dead_calls;
    struct setting_value setting;
    boxcar_new_join join;
    boxcar_join_id join_id;
    boxcar_message_id message_id; /* of a step, of the last member, or where a page of members begins */
    boxcar_member_status outcome;
    size_t attach_count;
    char wait_payload[600];
    boxcar_join_filter join_filter;
    int member_limit;
    struct inbox_origin origin; /* of a question */
    enum inbox_question question;
    boxcar_new_event events[MEMORY_ROOM];
    size_t event_count;
    boxcar_str stream; /* of an append, of the last call about one, or the pattern of a rule */
    int64_t version;   /* expected, or to read from */
    boxcar_event_filter event_filter;
    boxcar_stream_filter stream_filter;
    boxcar_stream_policy policy;
    enum stream_action action;
    struct subscription_change subscription;
    struct subscription_choice subscriptions;
    struct schedule_change schedule;
    boxcar_new_schedule new_schedule; /* what was given with that, if it was one to add */
    boxcar_plan plan;
    boxcar_str topic, work_key; /* of the schedules that were read; absent = all */
};

struct memory_record {
    boxcar_log_level level;
    char event[32], text[600], fields[600], store_id[32];
};

struct memory_store {
    struct boxcar_store store; /* first */
    pthread_mutex_t mutex;
    struct memory_message messages[MEMORY_IDS]; /* work id = index + 1 */
    size_t count;
    struct memory_call calls[MEMORY_CALLS]; /* without those that are only heartbeats or sign an owner off */
    size_t call_count;
    size_t id_looks;                   /* how often work ids were asked for */
    _Atomic int heartbeats, farewells; /* heartbeats: by themselves */
    int defects;                       /* a message id came as new though it was known */
    int most_suspects;                 /* leased at the same time */
    _Atomic int wait_looks;
    _Atomic int inside, most_inside; /* calls at the same time */
    _Atomic int closed;              /* times the store was */
    struct memory_asked asked;
    struct memory_record log[MEMORY_ROOM]; /* unless memory_open() was given somebody else for them */
    struct memory_record last;             /* of the log */
    size_t log_count;
    /* The script: what is settled ... */
    bool all_leased;                /* every work id is, in both boxes, until it is settled */
    enum wait_outcome wait_outcome; /* of every wait that is leased */
    _Atomic int64_t steal;          /* renewing this work id affects nothing */
    bool thief_settles;             /* and it is not there to be claimed again */
    int64_t lose;                   /* settling this work id affects nothing: its lease is lost */
    const char *other_hash;         /* messages of the inbox with this payload had another hash before */
    /* ... and claimed; ... */
    bool backwards;       /* claims bring the newest first */
    bool ignore_topics;   /* claims hand out what was not asked for */
    int64_t waits_due;    /* evaluated by the next look ... */
    bool waits_never_end; /* ... and by all that follow */
    int64_t reaped;       /* by a request that wants it, and by upkeep */
    boxcar_join ended[2]; /* by every request */
    size_t ended_count;
    /* ... what other operations answer; ... */
    boxcar_message found; /* by a ref */
    int64_t dead_left;    /* dead letters: replaying and purging work this off */
    struct setting_value setting;
    struct join_change change;
    boxcar_attached attached[MEMORY_ROOM];
    bool inbox_answer, hash_mismatch;
    bool knows_events;                /* tells every event as a duplicate */
    size_t stream_count;              /* of every page */
    boxcar_subscription subscription; /* the only one; reader 0 = there is none */
    bool schedule_changed;            /* by completing a slice */
    boxcar_planned planned;           /* by every plan */
    boxcar_schedule schedule;         /* the only one; without a topic there is none */
    boxcar_slice slice;               /* its only one */
    /* ... which calls fail; ... */
    boxcar_status down;            /* every one ends so, but for settings and waits; OK = none does */
    int fail_next;                 /* this many of the next ones that settle fail ... */
    long fail_at;                  /* ... and this one (the first is 0; -1 = none) ... */
    boxcar_status failure;         /* ... in this way */
    bool apply_then_fail;          /* and the effect, if it was to have one, stays: only the answer is lost */
    const char *refuse;            /* those with a message of this payload are refused ... */
    int64_t refuse_work_id;        /* ... and those that settle this one ... */
    boxcar_status refusal;         /* ... in this way; E_STORE by default */
    const char *orphan;            /* those with a message of this payload: BOXCAR_E_NOT_FOUND */
    boxcar_status deny_instances;  /* what one with a heartbeat ends in; OK = it is taken ... */
    boxcar_status deny_heartbeats; /* ... and a heartbeat by itself */
    _Atomic int fail_heartbeats;   /* this many of the next heartbeats that are sent alone */
    /* ... and when they are answered. */
    bool gate_closed; /* they wait at the gate */
    int at_gate;
    pthread_cond_t gate; /* something about the gate has changed */
};

static inline struct memory_store *memory_of(struct boxcar_store *store) {
    return (struct memory_store *)store;
}

void memory_init(struct memory_store *memory);
void memory_release(struct memory_store *memory);
/* A message to be claimed, of the outbox unless the test changes that. */
void memory_add(struct memory_store *memory, const char *topic, int crash_count);
/* Waits until a request stands at the gate; opens it for all. */
void memory_await_gate(struct memory_store *memory);
void memory_open_gate(struct memory_store *memory);
/* For struct boxcar_worker.open: lends the one that memory_init() got last. */
boxcar_status memory_open(const boxcar_store_options *options, struct boxcar_store **ret_store,
                          boxcar_error *err);

/* Of memory_store.c, for memory_nouns.c, which has the table. */
extern const struct store_ops MEMORY_OPS;
boxcar_status memory_process(struct boxcar_store *store, const struct request *batch,
                             struct result *ret_result, boxcar_error *err);
/* The message's place; memory->count: there is none. */
size_t memory_find(const struct memory_store *memory, boxcar_message_id id);

#endif
