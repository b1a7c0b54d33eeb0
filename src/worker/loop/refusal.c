/* Verdicts that the store refuses. After an outage the same request is sent again, but here it would be
 * refused again, and one verdict must not hold back all the others.
 *
 * So the worker searches for the refused verdict by halves, as a coordinator does (request/refusal.h). A
 * coordinator drops a refused operation. A worker has time: the message is leased, and no other owner can
 * have it before the lease ends. A verdict that was refused alone is set aside and tried again, alone, until
 * its lease is over; only then it is given up. The other verdicts are sent together.
 *
 * Meanwhile nothing is claimed. Renewals and heartbeats go out without verdicts, so that they do not fail
 * because of one of them. */
#include "pump.h"

#include "base/clock.h"
#include "worker/crew/log_message.h"

#define REFUSED_MS 200 /* between tries of what is refused by itself */

static bool is_searching(const struct pump *pump) {
    return pump->refusal.search.bad_end > pump->refusal.search.from;
}

bool pump_is_refused(const struct pump *pump) { return is_searching(pump) || pump->refusal.aside.count > 0; }

/* ---- what goes out ---- */

struct job_list *pump_choose_verdicts(struct pump *pump, size_t *ret_count) {
    struct pump_refusal *refusal = &pump->refusal;
    *ret_count = 0;
    if (refusal->aside.count > 0 && pump->now_ms >= refusal->retry_at_ms) {
        *ret_count = 1;
        return &refusal->aside;
    }
    if (!pump_is_refused(pump))
        *ret_count = pump->finished.count;
    else if (pump->now_ms >= refusal->search_at_ms) {
        refusal->search.end = refusal->search.from + pump->finished.count;
        *ret_count = refusal_next(&refusal->search);
    }
    return &pump->finished;
}

int64_t pump_next_verdict_ms(const struct pump *pump) {
    const struct pump_refusal *refusal = &pump->refusal;
    int64_t at = pump->finished.count > 0 ? refusal->search_at_ms : INT64_MAX;
    return refusal->aside.count > 0 && refusal->retry_at_ms < at ? refusal->retry_at_ms : at;
}

/* ---- what comes back ---- */

/* The number of lists that hold the verdicts of both boxes. */
#define VERDICT_KINDS (BOXCAR_RENEW - BOXCAR_ACK)
#define VERDICT_LISTS (BOXES * VERDICT_KINDS)

static const struct gather_list *verdict_list(const struct pump *pump, int i) {
    return &pump->boxes[i / VERDICT_KINDS].out.lists[BOXCAR_ACK + i % VERDICT_KINDS];
}

size_t pump_count_verdicts(const struct pump *pump) {
    size_t count = 0;
    for (int k = 0; k < VERDICT_LISTS; k++)
        count += verdict_list(pump, k)->count;
    return count;
}

/* NULL = there are none, or several. */
static struct job *lone_verdict(const struct pump *pump) {
    if (pump_count_verdicts(pump) != 1)
        return NULL;
    int k = 0;
    while (verdict_list(pump, k)->count == 0)
        k++;
    return outbound_job(verdict_list(pump, k), 0);
}

/* Of a try of what was put aside: it stands in no row. */
static bool is_retry(const struct pump *pump) {
    const struct job *job = lone_verdict(pump);
    return job && job->refused;
}

static void end_search_if_through(struct pump *pump) {
    if (!is_searching(pump))
        pump->refusal.search = (struct refusal_search){0};
}

void pump_pass_verdicts(struct pump *pump, size_t count) {
    refusal_taken(&pump->refusal.search, count);
    end_search_if_through(pump);
}

void pump_take_verdicts(struct pump *pump) {
    size_t count = pump_count_verdicts(pump);
    if (count == 0)
        return;
    pump->refusal.is_proven = true;
    if (!is_retry(pump))
        pump_pass_verdicts(pump, count);
}

void pump_keep_verdicts(struct pump *pump) {
    struct job_list kept = {0};
    for (int k = 0; k < VERDICT_LISTS; k++) {
        const struct gather_list *list = verdict_list(pump, k);
        for (size_t i = 0; i < list->count; i++) {
            struct job *job = outbound_job(list, i);
            job->sent = false;
            job_list_push(job->refused ? &pump->refusal.aside : &kept, job);
        }
    }
    job_list_append(&kept, &pump->finished);
    pump->finished = kept;
}

/* ---- what is refused ---- */

static bool drop_if_hopeless(struct pump *pump, struct job *job, const boxcar_error *err) {
    if (pump->now_ms - job->leased_at_ms < pump_tuning(pump)->lease_ms)
        return false;
    log_message(pump_logger(pump), BOXCAR_LOG_ERROR, "refused", job->message, boxcar_str_of(err->message),
                "the store refuses to settle this: given up");
    pump_give_back_behind(pump, job);
    pump_forget(pump, job);
    return true;
}

/* It was refused alone, for the first time or again. */
static void put_aside(struct pump *pump, struct job *job, const boxcar_error *err) {
    struct pump_refusal *refusal = &pump->refusal;
    int64_t later = clock_ms() + REFUSED_MS;
    if (job->refused || refusal->aside.count == 0)
        refusal->retry_at_ms = later;
    if (!refusal->is_proven) /* it may be the store after all, which is not asked without a pause */
        refusal->search_at_ms = later;
    refusal->is_proven = false;
    job->refused = true;
    job->sent = false;
    if (!drop_if_hopeless(pump, job, err))
        job_list_push(&refusal->aside, job);
}

/* Until now they went with everything else: what it was shows when they go by themselves. */
static void begin_search(struct pump *pump, size_t count, const boxcar_error *err) {
    store_log(pump_logger(pump), BOXCAR_LOG_WARN, "refused", NULL, 0,
              "the store refuses to settle; looking for the verdict that it refuses: %s", err->message);
    pump_keep_verdicts(pump);
    pump->refusal.search = (struct refusal_search){.bad_end = count};
    pump->refusal.search_at_ms = pump->now_ms;
    pump->refusal.is_proven = false;
}

void pump_take_refusal(struct pump *pump, const boxcar_error *err) {
    struct job *lone = lone_verdict(pump);
    size_t count = pump_count_verdicts(pump);
    atomic_fetch_add(&pump->worker->count.store_errors, 1);
    if (!pump_is_refused(pump) && !is_retry(pump)) {
        begin_search(pump, count, err);
        return;
    }
    if (!is_retry(pump))
        (void)refusal_refused(&pump->refusal.search, count);
    end_search_if_through(pump);
    if (lone)
        put_aside(pump, lone, err);
    else
        pump_keep_verdicts(pump);
}
