/* The state of the work loop. pump.c drives it; the other files of this folder are its parts. */
#ifndef BOXCAR_WORKER_LOOP_PUMP_H
#define BOXCAR_WORKER_LOOP_PUMP_H

#include <limits.h>

#include "outbound.h"
#include "pace.h"
#include "request/refusal.h"
#include "request/schedule.h"
#include "worker/crew/crew.h"
#include "worker/worker.h"

/* A box, if there are handlers for it. */
struct pump_box {
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
    char host[HOST_NAME_MAX + 1];
    struct instance instances[BOXES];
};

struct pump {
    struct boxcar_worker *worker;
    struct boxcar_store *store;
    struct crew *crew;
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

    int64_t looked_at_ms; /* at whatever box */
    int64_t next_renewal_ms;
    struct heartbeat heartbeat;
    int64_t backoff_cap_ms; /* of the store's settings: how far a drain looks ahead */

    int failures; /* of the store, in a row; 0 = attached */
    int too_slow; /* how often it failed lately: then it is waited for longer */
    int64_t too_slow_at_ms;
    bool has_worked; /* an exchange has succeeded */
    int64_t retry_at_ms;
    int64_t detached_at_ms;
    int64_t told_at_ms; /* that the store is away */
    bool claims_fail;   /* the rest of the store may work: only a claim shows that it is back */
    bool sent_before;   /* the last try may have taken effect */
    struct pump_refusal refusal;

    bool stopping, cancelled, done;
    int64_t stop_by_ms; /* end of the grace time */
    int64_t cancelled_at_ms;
    boxcar_status end_status;
    boxcar_error end_error;
};

/* What its pace depends on. */
struct pace_view pump_pace_view(const struct pump *pump);

static inline bool pump_is_attached(const struct pump *pump) { return pump->failures == 0; }
static inline const struct tuning *pump_tuning(const struct pump *pump) { return &pump->worker->tuning; }
static inline bool pump_serves(const struct pump *pump, boxcar_box box) {
    return pump->boxes[box].pattern_count > 0;
}
static inline bool pump_has_found(const struct pump *pump) {
    return pump->boxes[BOXCAR_OUTBOX].found || pump->boxes[BOXCAR_INBOX].found;
}
static inline struct boxcar_store *pump_logger(const struct pump *pump) { return &pump->crew->logger; }

#endif
