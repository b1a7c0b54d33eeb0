/* A store in memory for the work loop: a queue of messages, a table of what became of each, and a
 * script of failures. One worker at a time. */
#ifndef BOXCAR_TESTS_SCRIPT_STORE_H
#define BOXCAR_TESTS_SCRIPT_STORE_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/store.h"

#define SCRIPT_ROOM 64
#define SCRIPT_CALLS 1024

struct script_message {
    boxcar_str topic;
    boxcar_str payload;
    boxcar_box box;
    boxcar_str stream;
    int crash_count;
    bool leased;
    int64_t epoch; /* of its lease; 0 = 1 */
    int settled; /* times, by any kind but renew */
    size_t settled_in; /* which call of process() it was, the last time */
    int renewed;
    int stages; /* recorded */
    size_t recorded_in;
    boxcar_settle_kind kind; /* of the last settlement */
    boxcar_reason reason;
    int64_t delay_ms;
};

/* One call of process(), as it was asked. */
struct script_call {
    size_t settlements, renewals, instances;
    int claim_size;        /* of both boxes together ... */
    int claim_of[BOXES];   /* ... and of each */
    bool sent_before, no_suspects;
    boxcar_status answer;
};

struct script_store {
    struct boxcar_store store; /* first */
    pthread_mutex_t mutex;
    struct script_message messages[SCRIPT_ROOM]; /* work id = index + 1 */
    size_t count;
    struct script_call calls[SCRIPT_CALLS];
    size_t call_count;
    /* The script. */
    int fail_next;         /* so many of the next process() calls that settle fail ... */
    boxcar_status failure; /* ... in this way */
    bool apply_then_fail;  /* the settlement happens, its answer is lost */
    enum wait_outcome wait_outcome; /* of every wait that is leased */
    int64_t refuse;        /* this work id can never be settled (E_STORE) */
    _Atomic int64_t steal; /* renewing this work id affects nothing */
    bool thief_settles;    /* and it is not there to be claimed again */
    int64_t lose;          /* settling this work id affects nothing: its lease is lost */
    bool backwards;        /* claims bring the newest first */
    boxcar_status deny; /* every process() ends so; OK = none does */
    int heartbeats, farewells; /* heartbeats: by themselves */
    int64_t waits_due;         /* evaluated by the next look */
    _Atomic int wait_looks;
    boxcar_status deny_instances;  /* what a batch with a heartbeat ends in; OK = it is taken ... */
    boxcar_status deny_heartbeats; /* ... and one by itself */
    _Atomic int fail_heartbeats; /* so many of the next ones */
    int most_suspects;  /* leased at the same time */
    bool ignore_topics; /* claims hand out what was not asked for */
};

void script_init(struct script_store *script);
void script_add(struct script_store *script, const char *topic, int crash_count);
/* For struct boxcar_worker.open: lends the one that script_init() got last. */
boxcar_status script_open(const boxcar_store_options *options, struct boxcar_store **ret_store,
                          boxcar_error *err);

#endif
