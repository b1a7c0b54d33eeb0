/* The work loop: its state, and what its parts do with it. pump.c drives it; the other files of this folder
 * are its parts. */
#ifndef BOXCAR_WORKER_LOOP_PUMP_H
#define BOXCAR_WORKER_LOOP_PUMP_H

#include "outbound.h"
#include "pace.h"
#include "request/coordinator/presence.h"
#include "request/refusal.h"
#include "request/schedule.h"
#include "worker/crew/crew.h"
#include "worker/share/share.h"
#include "worker/worker.h"

/* A box, if there are handlers for it. */
struct pump_box {
    boxcar_box reader;    /* whose messages they are: the box's main reader, or the worker's subscription */
    boxcar_str *patterns; /* what claims ask for: the handlers' topics, and the waits' */
    size_t pattern_count; /* 0 = this box is not served */
    struct outbound out;
    bool found; /* the last look found something */
    int64_t looked_at_ms, next_look_ms;
    int64_t pause_ms; /* before the next look, as long as looks find nothing */
};

/* Verdicts that the store does not take: see refusal.c. */
struct pump_refusal {
    struct refusal_search search; /* among the finished, beginning with the first */
    int64_t search_at_ms;         /* not before */
    struct job_list aside;        /* refused alone: tried again, one at a time ... */
    int64_t retry_at_ms;          /* ... and not before */
    bool is_proven;               /* the store has taken a verdict since one was put aside */
};

/* See heartbeat.c. */
struct heartbeat {
    int64_t next_ms, interval_ms;
    enum {
        HEARTBEAT_ALONG,     /* with the next round trip */
        HEARTBEAT_SUSPECTED, /* with it a request was refused: does it go without? */
        HEARTBEAT_ALONE      /* it did */
    } way;
    bool is_mute; /* the heartbeat is refused, and that was logged */
    char host[PRESENCE_HOST_SIZE];
    struct instance instances[BOXES];
};

struct pump {
    struct boxcar_worker *worker;
    struct boxcar_store *store;
    struct crew *crew; /* its own, or that of the fleet */
    struct desk *desk;
    struct crew_view view; /* of this turn */
    int64_t now_ms;        /* of this turn */
    struct pace pace;
    unsigned random;

    char *wait_topic;      /* of the store's setting */
    int64_t next_waits_ms; /* when to evaluate waits, if it claims none (waits.c) */
    struct pump_box boxes[BOXES];
    unsigned turn; /* counts the looks: what cannot be shared goes to each box in turn */

    struct job *held; /* everything leased: queued, waiting, running, finished */
    size_t held_count;
    struct job_list finished; /* verdicts that are not in the store yet ... */
    struct schedule schedule; /* ... and when they go out, if nothing else is on its way before */

    struct job *waiting; /* a suspect that has to run alone, and cannot yet; nothing is claimed meanwhile */
    int64_t waiting_since_ms, patience_ms; /* of it; after that it goes back for as long */
    int64_t no_suspects_until_ms;
    int max_attempts;              /* the store's setting, as it was last read; 0 = not yet ... */
    int64_t next_attempts_read_ms; /* ... and when it is read again, if need be */
    int64_t next_shortage_ms;      /* the next warning about programs that cannot be started */
    struct job *suspect;           /* the suspect in flight: one at a time */

    /* With a seat: see seat.c. */
    bool awaits_turn;
    bool is_alone; /* no other loop holds anything */
    int64_t found_at_ms;

    int64_t looked_at_ms; /* at whatever box */
    int64_t next_renewal_ms;
    struct heartbeat heartbeat;
    int64_t backoff_cap_ms; /* of the store's settings: how far a drain looks ahead */

    struct {
        struct subscription_rows *rows; /* the policies, as they were last read */
        boxcar_str *patterns[BOXES];    /* the handlers' and theirs */
        size_t pattern_count[BOXES];
        size_t own_count[BOXES]; /* the handlers': they come first */
        bool has_routes[BOXES];
        int64_t next_ms;           /* when they are read again */
        int64_t next_schedules_ms; /* and the schedules; 0 = they were not read */
        int64_t next_tell_ms;      /* what a drain does not wait for */
    } routes;

    int failures; /* of the store, in a row; 0 = attached */
    int too_slow; /* how often it failed lately: then it is waited for longer */
    int64_t too_slow_at_ms;
    bool has_worked; /* an exchange has succeeded */
    bool only_looks; /* at an idle store of a fleet, which has had nothing yet: nothing is written there */
    int64_t retry_at_ms;
    int64_t detached_at_ms;
    int64_t told_at_ms; /* that the store is away */
    bool claims_fail;   /* the rest of the store may work: only a claim shows that it is back */
    bool sent_before;   /* the last try may have taken effect */
    struct pump_refusal refusal;

    bool stopping, cancelled, done;
    int64_t stop_by_ms; /* end of the grace time */
    int64_t cancelled_at_ms;
    boxcar_error last_error; /* why the store was away */
    boxcar_error end_error;  /* status BOXCAR_OK = it ended well */
};

static inline bool pump_is_attached(const struct pump *pump) { return pump->failures == 0; }
static inline const struct tuning *pump_tuning(const struct pump *pump) { return &pump->worker->tuning; }
static inline bool pump_serves(const struct pump *pump, int box) {
    return pump->boxes[box].pattern_count > 0;
}
static inline struct seat *pump_seat(const struct pump *pump) { return pump->worker->seat; }
static inline struct boxcar_store *pump_logger(const struct pump *pump) { return &pump->desk->logger; }

/* Works until it is told to stop, or until everything is done if the worker drains. The caller's thread does
 * it. */
boxcar_status pump_run(struct boxcar_worker *worker, boxcar_error *err);
/* What its pace depends on. */
struct pace_view pump_pace_view(const struct pump *pump);

/* Nothing is claimed while a suspect waits until it may run, or runs alone, or while the store does not take
 * what is there. */
bool pump_may_claim(const struct pump *pump);
/* How many messages there is room for. */
int pump_claim_size(const struct pump *pump);
/* Whether it is drained, for someone who looks ahead this far. */
boxcar_status pump_is_drained(struct pump *pump, int64_t horizon_ms, bool *ret_drained, boxcar_error *err);
static inline bool pump_has_found(const struct pump *pump) {
    return pump->boxes[BOXCAR_OUTBOX].found || pump->boxes[BOXCAR_INBOX].found;
}

/* ---- seat.c: one store of many. A worker with one store has no seat: then all of this is free ---- */

/* How much to claim now, of `size` that there is room for; 0 = it is not this store's turn. */
int pump_take_turn(struct pump *pump, bool wants, int size);
/* A request has been answered, or has failed; `claims`: it asked for work. */
void pump_end_turn(struct pump *pump, bool claims, size_t claimed);
/* When the loop begins: what the one before has learned. */
void pump_sit_down(struct pump *pump);
/* Once in each turn of the loop. */
void pump_report(struct pump *pump);
bool pump_may_take_suspects(const struct pump *pump);
/* Whether a message may run that has to run alone, as far as other stores are concerned. */
bool pump_others_are_idle(const struct pump *pump);
/* Before a store that is away is tried again, and when it has gone. */
bool pump_take_place(struct pump *pump);
void pump_leave_place(struct pump *pump);
/* There is nothing to do: whether the loop ends, so that another store gets the place. */
void pump_rise_if_due(struct pump *pump);
int64_t pump_next_turn_ms(const struct pump *pump); /* INT64_MAX = no matter */
/* The store has gone away, or has answered: whether the log does not know it yet. The log knows about a store
 * of many from one run of its loop to the next. */
bool pump_is_news(struct pump *pump, bool is_down);

/* ---- exchange.c: the round trip, and what a store that fails means ---- */

/* Sends verdicts, renewals and the heartbeat, and asks each box for the given number of messages. false =
 * there was nothing to send or ask. */
bool pump_exchange(struct pump *pump, const int claim_sizes[BOXES], bool renew);
/* Looks at every box as soon as there is room. */
void pump_look_soon(struct pump *pump);
void pump_count_lost(struct pump *pump, struct job *job); /* its lease ended before it was settled */
void pump_set_patience(struct pump *pump);
/* The store failed: says so once and waits longer each time. */
void pump_detach(struct pump *pump, const boxcar_error *err);
void pump_attach(struct pump *pump); /* it has answered */

/* ---- subscription.c: a worker for a subscription ---- */

/* Once, when the store is open: which reader each box has. BOXCAR_E_NOT_FOUND: there is no such subscription;
 * BOXCAR_E_INVALID: some handler is for the other box. */
boxcar_status pump_set_readers(struct pump *pump, boxcar_error *err);
/* Whether a call failed because the subscription was removed. Then the worker stops: what it holds is no
 * longer leased to it. */
bool pump_ends_with_subscription(struct pump *pump, const boxcar_error *err);

/* ---- flush.c: when verdicts go out ---- */

void pump_set_strategy(struct pump *pump); /* as the tuning says */
void pump_note_finished(struct pump *pump);
void pump_note_flushed(struct pump *pump);
bool pump_flush_is_due(const struct pump *pump);
int64_t pump_next_flush_ms(const struct pump *pump); /* if not now; INT64_MAX = none ahead */

/* ---- refusal.c: verdicts that the store does not take ---- */

/* Whether there are any, or one is searched for: nothing is claimed then, and verdicts go by themselves. */
bool pump_is_refused(const struct pump *pump);
/* Which verdicts go out now: the first *ret_count of the list. */
struct job_list *pump_choose_verdicts(struct pump *pump, size_t *ret_count);
/* When some may; INT64_MAX = there are none. */
int64_t pump_next_verdict_ms(const struct pump *pump);
/* The first `count` finished jobs are decided. */
void pump_pass_verdicts(struct pump *pump, size_t count);
/* Those that are on their way: how many, and what the store did. Taken; not taken, which says nothing about
 * them; refused. */
size_t pump_count_verdicts(const struct pump *pump);
void pump_take_verdicts(struct pump *pump);
void pump_keep_verdicts(struct pump *pump);
void pump_take_refusal(struct pump *pump, const boxcar_error *err);

/* ---- heartbeat.c: that the worker lives ---- */

bool pump_heartbeat_is_due(const struct pump *pump);
/* Whether it must not go along with a request. */
bool pump_beats_alone(const struct pump *pump);
/* Fills pump->heartbeat.instances and returns how many there are. */
size_t pump_fill_instances(struct pump *pump);
/* The store took a request, with the heartbeat or without. */
void pump_take_heartbeat(struct pump *pump, bool along);
/* The store did not take it. true = perhaps because of the heartbeat: the same again without it. */
bool pump_suspects_heartbeat(struct pump *pump, bool along, const boxcar_error *err);
/* By itself. */
void pump_beat(struct pump *pump);

/* ---- jobs.c: taking messages in and letting them go ---- */

/* Claimed messages become jobs: discarded, queued, or kept waiting if they are suspects. */
void pump_admit(struct pump *pump, struct result *result, int64_t asked_at_ms);
/* One of them, whose handler is known; those for the crew are added to `ready`. */
void pump_admit_one(struct pump *pump, struct job *job, struct job_list *ready);
/* It goes back to the store, without an attempt. */
void pump_give_back_one(struct pump *pump, struct job *job, int64_t delay_ms);
/* The job is settled, or lost: it is forgotten. */
void pump_forget(struct pump *pump, struct job *job);
/* The job has a verdict. */
void pump_finish(struct pump *pump, struct job *job, boxcar_verdict verdict, int64_t delay_ms);
/* Takes finished jobs from the crew; logs and learns from them. */
void pump_collect(struct pump *pump);
/* Lets a waiting suspect run, if it may now. */
void pump_release_suspect(struct pump *pump);
/* Whether this message may only run with nothing else in flight. */
bool pump_runs_alone(const struct job *job);
/* Gives back what is queued and has waited too long behind slow handlers; with `all`, everything
 * that no handler has begun. */
void pump_give_back(struct pump *pump, bool all);

/* ---- streams.c: one after the other ---- */

/* The messages of a load that have a stream. */
void pump_admit_streams(struct pump *pump, struct load *load, size_t streamed, struct job_list *ready);
/* The job is not done after all: what is behind it in its stream and not begun goes back. */
void pump_give_back_behind(struct pump *pump, struct job *job);

/* ---- attempts.c: the last attempt ---- */

/* Whether a message that was to be retried, and is settled now, had no attempt left. */
bool pump_was_last_attempt(struct pump *pump, const struct job *job);

/* ---- waits.c: waits for joins ---- */

/* Once, before anything is claimed: what to ask for. BOXCAR_E_CONFLICT: the waits' topic has a handler. */
boxcar_status pump_set_topics(struct pump *pump, boxcar_str wait_topic, boxcar_error *err);
bool pump_is_wait(const struct pump *pump, const struct job *job);
void pump_admit_wait(struct pump *pump, struct job *job);
/* Takes the outcomes of the waits that were sent. sent_before: they may have been sent twice. */
void pump_take_waits(struct pump *pump, const struct result *result, bool sent_before);
/* Whether waits are evaluated apart from claims: without a handler of the outbox nothing is claimed there. */
bool pump_looks_after_waits(const struct pump *pump);
/* Evaluates those that are due, when it is time. true = there were some. */
bool pump_evaluate_waits(struct pump *pump);

/* ---- routes.c: forwarding, which has threads of its own ---- */

bool pump_forwards(const struct pump *pump);
/* Whether its store has policies or schedules, as far as is known. */
bool pump_may_forward(const struct pump *pump);
/* Reads the store's policies when it is time, and hands them over. */
void pump_read_routes(struct pump *pump);
int64_t pump_next_routes_ms(const struct pump *pump);
/* Whether a nap is to end for policies' messages, too; then their topics are added to it, or are all that it
 * waits for in a box that it does not await yet. */
bool pump_naps_for_routes(const struct pump *pump);
void pump_add_routes(const struct pump *pump, struct nap *nap);
/* Something has arrived. true = a route waited for it. */
bool pump_poke_routes(const struct pump *pump);
/* Forwarding ends soon; that of a fleet is the fleet's to end. */
void pump_stop_routes(const struct pump *pump);
void pump_release_routes(struct pump *pump);
/* Whether there is nothing to forward: see pump_is_drained(). */
boxcar_status pump_routes_are_drained(struct pump *pump, int64_t horizon_ms, bool *ret_drained,
                                      boxcar_error *err);

/* ---- stop.c: stopping and draining ---- */

void pump_drive_stop(struct pump *pump);
int64_t pump_next_stop_event(const struct pump *pump); /* INT64_MAX = none ahead */
/* Gives up on handlers that do not stop: those that are overdue, or all. */
void pump_supervise(struct pump *pump, bool all);

#endif
