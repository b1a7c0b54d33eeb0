/* A store in memory: messages, what became of each, every request as it was asked, and a script of failures.
 * Coordinators store and settle in it, workers claim from it.
 *
 * It knows requests and little else. Tests of the public functions have fake_store.h: that one knows all
 * operations and remembers the arguments of each, but has no messages: what a function hands down is all that
 * matters there. */
#ifndef BOXCAR_TESTS_MEMORY_STORE_H
#define BOXCAR_TESTS_MEMORY_STORE_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/store.h"

#define MEMORY_IDS 4096 /* work ids from 1 on; one that is larger is leased to nobody */
#define MEMORY_CALLS 4096

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
    bool sent_before, no_suspects;
    boxcar_status answer;
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
    boxcar_log_level
        log_levels[64]; /* of the records, unless memory_open() was given somebody else for them */
    char log_events[64][24];
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
    /* ... which requests fail; ... */
    boxcar_status down;            /* every one ends so; OK = none does */
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

#endif
