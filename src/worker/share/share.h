/* What the work loops of a worker with many stores share: turns to claim, places, and the rules for suspects.
 *
 * Each loop that runs has a seat. It claims only in its turn, so that the order of the stores is that of the
 * selection. A loop whose turn has come and that does not claim in time is passed over, and claims out of
 * turn until it is quick again: a slow store delays no other.
 *
 * A place is the right to hold a connection. There is a fixed number of places. A loop whose store is away
 * gives its place back until the next try.
 *
 * Threads: one mutex guards all of it. The functions of a seat are called by its loop, the others by the
 * thread of the fleet, unless they say otherwise. */
#ifndef BOXCAR_WORKER_SHARE_SHARE_H
#define BOXCAR_WORKER_SHARE_SHARE_H

#include <pthread.h>
#include <stdatomic.h>

#include "boxcar/fleet.h"
#include "worker/worker.h"

/* How long the store whose turn it is may take until another one claims. */
#define SHARE_PATIENCE_MS 500

struct share;

struct seat {
    struct share *share;
    struct seat *next;            /* in the order of the stores */
    struct boxcar_worker *worker; /* of this store */
    boxcar_candidate candidate;   /* what a selection may know of it */
    bool is_file;                 /* the store's changes show in a file */
    _Atomic bool is_closing;      /* it is to claim no more, and to end when it holds nothing */

    /* Under the mutex. */
    bool sits; /* among the seats of the share */
    bool has_place;
    bool wants_place; /* it has asked in vain */
    bool wants;       /* to claim */
    bool is_claiming;
    bool is_slow;     /* passed over: it claims out of turn */
    bool has_claimed; /* since it sat down */
    bool is_look;     /* it was idle: when a claim brings nothing, it leaves at once */
    size_t held;      /* messages */
    int64_t wants_since_ms;
    int64_t asked_at_ms; /* for its turn, for the last time */
    int64_t claiming_since_ms;

    /* Of its loop; read when that has ended. */
    bool knows_pace; /* what its loop has learned, for the next one */
    double message_us;
    bool is_down;          /* the store could not be used, and the log says so ... */
    int64_t down_since_ms; /* ... since then */
    bool has_more;         /* it left although it may have more work */
    bool has_soon;         /* something becomes due soon */
    bool has_later;        /* nor can it be left alone for long */
    bool has_worked;       /* the store has answered */
    bool is_drained;       /* of a worker that drains: nothing is left */
};

struct share {
    pthread_mutex_t mutex;
    struct seat *seats;
    struct seat *turn; /* whose it is; NULL = nobody's */
    int64_t turn_since_ms;
    struct select_turn {
        int64_t order, claimed;
    } last;
    boxcar_selection selection;
    boxcar_select_fn select; /* instead; NULL = none */
    void *select_context;
    struct seat *suspect; /* whose loop has a suspect, or may claim one; NULL = none */
    struct seat *alone;   /* whose loop runs a message with nothing else in flight, or is about to */
    size_t places, taken;
    size_t waiting;           /* stores that wait for a place; the fleet's thread says so */
    int64_t idle_ms;          /* how long a store without work keeps its place */
    _Atomic int64_t soon_ms;  /* what is due within this time is worth looking for soon */
    _Atomic int64_t later_ms; /* a file in which nothing is due within this time is left alone for as long */
};

void share_init(struct share *share, const boxcar_fleet_options *options);
void share_release(struct share *share);

/* Gives a place to a store whose loop is about to start; false = none is free. */
bool share_seat(struct share *share, struct seat *seat);
/* Takes it back, when the loop has ended. */
void share_rise(struct seat *seat);
/* How many stores wait for a place that have no loop. */
void share_set_waiting(struct share *share, size_t waiting);
/* How long a store without work keeps its place, and what it looks ahead for. */
void share_set_horizon(struct share *share, int64_t soon_ms, int64_t later_ms);

/* ---- of a loop ---- */

/* Whether to claim now. `wants`: it would; `has_room`: the crew has room for what a claim brings. After true,
 * seat_claimed() follows. *ret_is_turn: it is its turn, and it waits for room. */
bool seat_ask(struct seat *seat, bool wants, bool has_room, bool *ret_is_turn);
/* A claim has ended, and brought so many. */
void seat_claimed(struct seat *seat, size_t count);
/* When to ask again, at the latest, after false. */
int64_t seat_next_ask_ms(struct seat *seat);

/* What its loop holds and needs: `suspect`: it has one; `alone`: it has a message that may only run alone.
 * Returns whether it is alone: no other loop holds anything, and none will. */
bool seat_report(struct seat *seat, size_t held, bool suspect, bool alone);
/* Whether a claim may bring a suspect: one at a time, whatever store it is from. */
bool seat_may_take_suspects(struct seat *seat);

/* The store is away: it does not want to claim, and its place is free. */
void seat_leave_place(struct seat *seat);
/* Before the next try; false = later. */
bool seat_take_place(struct seat *seat);

/* Whether the loop should end, if it holds nothing. `found`: its last look found something; `idle_ms`: since
 * it found something. */
bool seat_should_rise(struct seat *seat, bool found, int64_t idle_ms);

#endif
