/* A worker with many stores: who its members are, and which of them run.
 *
 * Each store is a member. A member that may have work runs the work loop (loop/pump.h) on a thread of its
 * own, in a seat (share/share.h); there are as many places as the worker may have connections. A member that
 * has nothing to do ends its loop, closes its connection, and is looked at again after a pause, or when its
 * file changes. A member whose store is down is tried again after growing pauses. One crew runs the handlers
 * of all.
 *
 * Threads: the caller of fleet_run() owns the members. Its mutex guards what other threads see of them: those
 * that read statistics, the one that discovers (roster.c), and the one for upkeep (upkeep.c). */
#ifndef BOXCAR_WORKER_FLEET_FLEET_H
#define BOXCAR_WORKER_FLEET_FLEET_H

#include "watch.h"
#include "worker/crew/crew.h"
#include "worker/discovery/discovery.h"
#include "worker/share/share.h"

struct member {
    struct member *next; /* in their order */
    struct fleet *fleet;
    struct arena arena;       /* of the texts */
    boxcar_found_store store; /* as the list had it when it was last connected */
    boxcar_str spelt_key;     /* its key; one that reads as a UUID in one spelling, which is in the room */
    char key_room[BOXCAR_UUID_TEXT_SIZE];
    struct boxcar_worker worker;
    struct seat seat;
    boxcar_fleet_state state; /* of those that matter between loops: waiting, active, idle, down */
    bool is_listed;           /* else it goes when it holds nothing */
    bool is_drained;

    /* Its loop. */
    pthread_t thread;
    atomic_bool has_ended;
    boxcar_status status; /* how */
    boxcar_error err;

    /* Between loops. */
    atomic_bool has_arrivals; /* this worker has forwarded messages to it */
    int64_t next_look_ms, pause_ms;
    int64_t failures;                      /* in a row */
    int64_t claims_before, claimed_before; /* its loop */
    boxcar_error failure;                  /* the last one; under the fleet's mutex */
    const char *path;                      /* of an SQLite file; NULL = it is none */
    struct watch watch;

    /* Upkeep: under the fleet's mutex. */
    struct boxcar_store logger;
    struct keeper *keeper;
    int64_t next_upkeep_ms;
    bool in_upkeep; /* the member stays as it is until this is false */
};

struct fleet {
    struct boxcar_worker *worker; /* the whole */
    boxcar_fleet_options options; /* without texts */
    struct discovery *discovery;
    struct share share;
    struct crew *crew;
    struct boxcar_store logger; /* for what concerns no one store */
    unsigned random;

    /* Of the thread that runs the fleet; the list is changed under the mutex. */
    struct member *members;
    size_t count;
    int64_t last_order, last_placed;
    int64_t next_watch_ms;
    size_t active;
    int stops_passed_on;
    int64_t drain_claimed; /* messages, when this pass over all members began */
    bool done;
    boxcar_status status;
    boxcar_error end_error;

    pthread_mutex_t mutex;
    struct worker_counters gone; /* of members that are gone */

    /* roster.c: under the mutex. */
    struct roster {
        pthread_t thread;
        pthread_cond_t changed;
        bool has_thread, stopping;
        struct boxcar_discovered *fresh; /* the newest list, until it is taken over; NULL = none */
        bool is_failing;
    } roster;
    /* upkeep.c: under the mutex. */
    struct caretaker {
        pthread_t thread;
        pthread_cond_t changed;
        bool has_thread, stopping;
        struct keeper *busy;
    } caretaker;
};

/* Makes the worker one with many stores. It is part of the worker from then on. */
boxcar_status fleet_new(struct boxcar_worker *worker, const boxcar_fleet_options *options, boxcar_error *err);
void fleet_free(struct fleet *fleet); /* NULL is fine */
/* What boxcar_worker_run() does. */
boxcar_status fleet_run(struct fleet *fleet, boxcar_error *err);

/* The worker is told to stop: what lists its stores ends soon. Safe in a signal handler. */
void fleet_hurry(struct fleet *fleet);

/* Any thread. */
void fleet_add_counters(struct fleet *fleet, boxcar_worker_stats *stats);
boxcar_status fleet_read(struct fleet *fleet, boxcar_fleet_store_list **ret_list, boxcar_error *err);

/* ---- member.c ---- */

struct member *member_new(struct fleet *fleet, const boxcar_found_store *store); /* NULL = out of memory */
void member_free(struct member *member);
/* Other texts, for a member that does not run. */
bool member_replace(struct member *member, const boxcar_found_store *store);
static inline bool member_is_active(const struct member *member) {
    return member->state == BOXCAR_FLEET_ACTIVE;
}
/* Starts its loop, if there is a place; false = there is none, or no thread. */
bool member_start(struct member *member);
/* Its loop has ended: decides when it is looked at again. */
void member_collect(struct member *member);
void member_stop(struct member *member);
/* A member that is idle or down waits for a place when its time has come, or its file has changed. */
void member_wake_if_due(struct member *member, int64_t now, bool look_at_file);
/* What was forwarded to a member is looked for at once. */
void member_take_arrivals(struct member *member);
void member_log(const struct member *member, boxcar_log_level level, const char *event, const char *text);

/* ---- roster.c ---- */

/* A text that reads as a UUID is that UUID, in one spelling. */
boxcar_str roster_spell(boxcar_str key, char room[BOXCAR_UUID_TEXT_SIZE]);
/* The first list. */
boxcar_status roster_begin(struct fleet *fleet, boxcar_error *err);
void roster_end(struct fleet *fleet);
/* Takes the newest list over, if there is one. */
void roster_apply(struct fleet *fleet);
/* Where the store with this key is; see forward_locate_fn. `fleet` is one. */
boxcar_status roster_locate(void *fleet, boxcar_str key, struct arena *arena, boxcar_str *ret_url,
                            boxcar_str *ret_schema, boxcar_error *err);
/* See forward_arrived_fn. */
void roster_note_arrival(void *fleet, const char *store_id);
/* Frees members that are no longer listed and do not run. */
void roster_sweep(struct fleet *fleet);

/* ---- upkeep.c ---- */

void upkeep_begin(struct fleet *fleet);
void upkeep_end(struct fleet *fleet);

#endif
