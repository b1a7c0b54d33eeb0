/* A store in memory that keeps a ledger: every message and how often each work id was settled, in the
 * order in which it happened; and fails by a script. */
#ifndef BOXCAR_TESTS_LEDGER_STORE_H
#define BOXCAR_TESTS_LEDGER_STORE_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/store.h"

#define LEDGER_CALLS 4096
#define LEDGER_IDS 4096 /* work ids from 1 on that may be settled, all leased by everybody */

struct ledger_entry {
    boxcar_message_id id;
    char payload[24];
    char source[24]; /* of the inbox */
    boxcar_box box;
};

/* One call of process(), as it was asked. */
struct ledger_call {
    size_t messages, settlements, renewals;
    int claim_size[BOXES];
    bool sent_before;
    boxcar_status answer;
};

struct ledger_store {
    struct boxcar_store store; /* first */
    pthread_mutex_t mutex;
    /* The ledger. */
    struct ledger_entry *entries;
    size_t count, capacity;
    int stages[LEDGER_IDS];
    boxcar_settle_kind kinds[LEDGER_IDS]; /* of the last settlement that took effect */
    int settled[LEDGER_IDS];            /* times; renewals apart */
    int renewed[LEDGER_IDS];
    char errors[LEDGER_IDS][24];
    int64_t delays[LEDGER_IDS];
    struct ledger_call calls[LEDGER_CALLS];
    size_t call_count;
    int defects;                     /* a message id came as new though it was known */
    _Atomic int inside, most_inside; /* calls at the same time */
    /* The script. */
    boxcar_status down;     /* every call ends so; OK = none does */
    long fail_at;           /* this call fails (the first is 0); -1 = none does */
    boxcar_status failure;  /* in this way */
    bool apply_then_fail;   /* and its effect, if it was to have one, stays */
    const char *refuse;     /* batches with a message of this payload are refused ... */
    int64_t refuse_work_id; /* ... and those that settle this one ... */
    boxcar_status refusal;  /* ... in this way */
    const char *orphan;     /* batches with a message of this payload: BOXCAR_E_NOT_FOUND */
    const char *other_hash; /* messages of the inbox with this payload had another hash before */
    size_t claimable;       /* messages that each claim finds */
    bool gate_closed;       /* calls wait at the gate */
    int at_gate;
    pthread_cond_t gate;             /* something about the gate has changed */
    _Atomic int closed;              /* times the store was */
    _Atomic int heartbeats, farewells;
    boxcar_log_level log_levels[64]; /* of the records */
    char log_events[64][24];
    size_t log_count;
};

void ledger_init(struct ledger_store *ledger);
void ledger_release(struct ledger_store *ledger);
/* Waits until a call stands at the gate; opens it for all. */
void ledger_await_gate(struct ledger_store *ledger);
void ledger_open_gate(struct ledger_store *ledger);

#endif
