/* The processes that start joins, fill them, and wait for them, while workers work them off. A join is filled
 * in two goes: what is attached, reported or cancelled in the second one meets messages that have ended. */
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "join_trial.h"

#define LAG 8 /* joins between the first go and the second */

struct filler {
    struct trial *trial;
    boxcar_store *store;
    struct join_plan plan;
};

/* A join that may end early may refuse what comes late. Nothing else may go wrong. Returns whether it
 * refused. */
static bool check(struct filler *filler, boxcar_status status, const boxcar_error *error, const char *what) {
    if (status == BOXCAR_OK)
        return false;
    if (status == BOXCAR_E_CONFLICT && join_plan_may_end_early(&filler->plan))
        return true;
    errx(99, "join %lld: %s: %s", (long long)filler->plan.number, what, error->message);
}

static void start(struct filler *filler) {
    const struct join_plan *plan = &filler->plan;
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_new_join join = BOXCAR_NEW_JOIN_INIT;
    boxcar_join_id join_id;
    char number[24];
    snprintf(number, sizeof(number), "%lld", (long long)plan->number);
    join.join_id = plan->join_id;
    join.expected_steps = plan->expected;
    join.metadata = boxcar_str_of(number);
    join.deadline_ms = plan->deadline_ms;
    check(filler, boxcar_join_start(filler->store, &join, &join_id, &error), &error, "start");
}

static void enqueue_waits(struct filler *filler) {
    const struct join_plan *plan = &filler->plan;
    for (int i = 0; i < JOIN_WAITS; i++) {
        boxcar_error error = BOXCAR_ERROR_INIT;
        boxcar_new_wait wait = BOXCAR_NEW_WAIT_INIT;
        char name[48];
        snprintf(name, sizeof(name), "%lld %d", (long long)plan->number, i);
        wait.join_id = plan->join_id;
        wait.message_id = wait_id(plan->number, i);
        wait.correlation_id = boxcar_str_of(name);
        wait.allow_failures = wait_allows_failures(i);
        wait.on_complete_topic = BOXCAR_STR(ON_COMPLETE_TOPIC);
        wait.on_complete_payload = boxcar_str_of(name);
        if (plan->has_on_fail[i]) {
            wait.on_fail_topic = BOXCAR_STR(ON_FAIL_TOPIC);
            wait.on_fail_payload = boxcar_str_of(name);
        }
        check(filler, boxcar_join_wait(filler->store, &wait, NULL, &error), &error, "wait");
    }
}

/* Enqueues the steps that become members in this way, attached or not. */
static void enqueue_steps(struct filler *filler, enum step_way way) {
    const struct join_plan *plan = &filler->plan;
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_new_message messages[JOIN_STEPS_MAX];
    size_t count = 0;
    for (int i = 0; i < plan->step_count; i++) {
        if (plan->steps[i].way != way)
            continue;
        boxcar_new_message *message = &messages[count++];
        *message = BOXCAR_NEW_MESSAGE_INIT;
        message->topic = BOXCAR_STR(STEP_TOPIC);
        message->payload = boxcar_str_of(step_payload(plan->steps[i].kind));
        message->message_id = step_id(plan->number, i);
        if (plan->steps[i].kind == STEP_NEVER)
            message->max_attempts = STEP_ATTEMPTS;
        if (way == WAY_ENQUEUED)
            message->join_id = plan->join_id;
    }
    if (count == 0 ||
        !check(filler, boxcar_enqueue_many(filler->store, BOXCAR_OUTBOX, messages, count, NULL, &error),
               &error, "enqueue"))
        return;
    for (size_t i = 0; i < count; i++) /* the join has ended: as messages that belong to nothing */
        messages[i].join_id = (boxcar_join_id){0};
    if (boxcar_enqueue_many(filler->store, BOXCAR_OUTBOX, messages, count, NULL, &error) != BOXCAR_OK)
        errx(99, "enqueue: %s", error.message);
}

static void attach_ids(struct filler *filler, const boxcar_message_id *ids, size_t count) {
    boxcar_error error = BOXCAR_ERROR_INIT;
    if (count > 0)
        check(filler, boxcar_join_attach(filler->store, filler->plan.join_id, ids, count, NULL, &error),
              &error, "attach");
}

static void attach_steps(struct filler *filler, enum step_way way) {
    const struct join_plan *plan = &filler->plan;
    boxcar_message_id ids[JOIN_STEPS_MAX];
    size_t count = 0;
    for (int i = 0; i < plan->step_count; i++)
        if (plan->steps[i].way == way)
            ids[count++] = step_id(plan->number, i);
    attach_ids(filler, ids, count);
}

/* JOIN-080: a message may be a member of several joins. */
static void attach_borrowed(struct filler *filler) {
    struct join_plan before;
    if (!filler->plan.borrows)
        return;
    join_plan_make(&before, filler->trial->storm.seed, filler->trial->full, filler->plan.number - 1);
    boxcar_message_id id = step_id(before.number, before.step_count - 1);
    attach_ids(filler, &id, 1);
}

static void report_steps(struct filler *filler) {
    const struct join_plan *plan = &filler->plan;
    for (int i = 0; i < plan->step_count; i++) {
        boxcar_error error = BOXCAR_ERROR_INIT;
        boxcar_message_id id = step_id(plan->number, i);
        if (plan->steps[i].way != WAY_REPORTED)
            continue;
        boxcar_status status =
            step_succeeds(plan->steps[i].kind)
                ? boxcar_join_report(filler->store, plan->join_id, id, BOXCAR_MEMBER_COMPLETED, NULL, &error)
                : boxcar_join_report(filler->store, plan->join_id, id, BOXCAR_MEMBER_FAILED, NULL, &error);
        /* it could not be attached because the join had ended */
        if (status == BOXCAR_E_NOT_FOUND && join_plan_may_end_early(plan))
            continue;
        check(filler, status, &error, "report");
    }
}

static void cancel(struct filler *filler) {
    boxcar_error error = BOXCAR_ERROR_INIT;
    if (filler->plan.kind == JOIN_CANCELLED)
        check(filler, boxcar_join_cancel(filler->store, filler->plan.join_id, &error), &error, "cancel");
}

static void fill_first(struct filler *filler) {
    start(filler);
    if (filler->plan.waits_first)
        enqueue_waits(filler);
    enqueue_steps(filler, WAY_ENQUEUED);
    enqueue_steps(filler, WAY_ATTACHED);
    attach_steps(filler, WAY_AWAITED);
    attach_steps(filler, WAY_REPORTED);
}

static void fill_second(struct filler *filler) {
    attach_steps(filler, WAY_ATTACHED);
    attach_borrowed(filler);
    enqueue_steps(filler, WAY_AWAITED);
    report_steps(filler);
    cancel(filler);
    if (!filler->plan.waits_first)
        enqueue_waits(filler);
}

static void choose(struct filler *filler, int64_t number) {
    join_plan_make(&filler->plan, filler->trial->storm.seed, filler->trial->full, number);
}

static void fill_all(struct trial *trial, int first, int stride) {
    struct filler filler = {.trial = trial};
    boxcar_store_options options = storm_store_options(&trial->storm);
    boxcar_error error = BOXCAR_ERROR_INIT;
    options.durability = BOXCAR_DURABILITY_NORMAL;
    options.busy_timeout_ms = 120000;
    if (boxcar_store_open(&options, &filler.store, &error) != BOXCAR_OK)
        errx(99, "open: %s", error.message);
    for (int64_t number = first; number < trial->messages + LAG * stride; number += stride) {
        if (number < trial->messages) {
            choose(&filler, number);
            fill_first(&filler);
        }
        if (number - LAG * stride >= 0) {
            choose(&filler, number - LAG * stride);
            fill_second(&filler);
        }
    }
    boxcar_store_close(filler.store);
}

pid_t join_load_start(struct trial *trial, int first, int stride) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        err(99, "fork");
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        fill_all(trial, first, stride);
        _exit(0);
    }
    return pid;
}
