/* Joins: a storm of them while workers die, and many that count in the same ones at once. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "join_trial.h"

#define WORKERS 8
#define FILLERS 2

struct totals {
    int64_t messages;    /* that will end for sure: steps, and waits for joins that end */
    int64_t short_joins; /* those that never end */
};

static struct totals count_plans(struct trial *trial) {
    struct totals totals = {0};
    struct join_plan plan;
    for (int64_t i = 0; i < trial->messages; i++) {
        join_plan_make(&plan, trial->storm.seed, trial->full, i);
        for (int j = 0; j < plan.step_count; j++)
            totals.messages += plan.steps[j].way != WAY_REPORTED;
        totals.messages += plan.kind == JOIN_SHORT ? 0 : JOIN_WAITS;
        totals.short_joins += plan.kind == JOIN_SHORT;
    }
    return totals;
}

/* ---- processes that fill joins ---- */

struct fillers {
    pid_t pids[FILLERS]; /* 0: it has ended */
    int64_t fallen;
};

static void fillers_start(struct fillers *fillers, struct trial *trial) {
    for (int i = 0; i < FILLERS; i++)
        fillers->pids[i] = join_load_start(trial, i, FILLERS);
}

/* Notes those that have ended; with `wait` all of them do before it returns. */
static void fillers_look(struct fillers *fillers, bool wait) {
    for (int i = 0; i < FILLERS; i++) {
        int status = 0;
        if (fillers->pids[i] == 0 ||
            waitpid(fillers->pids[i], &status, wait ? 0 : WNOHANG) != fillers->pids[i])
            continue;
        fillers->pids[i] = 0;
        fillers->fallen += status != 0;
    }
}

/* ---- the storm ---- */

static bool wait_for(struct trial *trial, struct fillers *fillers, int64_t messages, int64_t ms) {
    int64_t end = now_us() + ms * 1000;
    while (count_finished(trial) < messages) {
        fillers_look(fillers, false);
        if (now_us() > end || fillers->fallen > 0 || workers_any_ended(trial))
            return false;
        pause_ms(trial->full ? 200 : 30);
    }
    return true;
}

/* Any of them, preferably one that has something to lose. */
static int choose_victim(struct trial *trial, struct worker **workers) {
    int place = 0;
    pause_ms(draw_between(&trial->self, 0, 50));
    for (int i = 0; i < 100; i++) {
        place = (int)draw_between(&trial->self, 0, WORKERS - 1);
        if (count_held_by(trial, workers[place]) > 0)
            break;
        pause_ms(2);
    }
    return place;
}

/* The kills are spread over the work by how much of it is done. */
static void kill_some(struct trial *trial, struct fillers *fillers, const struct launch *launch,
                      struct worker **workers, int64_t messages, int64_t ms) {
    int64_t inexact = 0;
    int kills = 0;
    for (; kills < trial->kills; kills++) {
        if (!wait_for(trial, fillers, messages * 9 / 10 * (kills + 1) / (trial->kills + 1), ms))
            break;
        int place = choose_victim(trial, workers);
        worker_kill(trial, workers[place]);
        inexact += count_inexact_joins(trial);
        workers[place] = worker_start(trial, launch);
    }
    trial->has_failed = kills < trial->kills;
    printf("%s: %d workers were killed, and all counters compared with all members each time\n", trial->name,
           kills);
    judge(trial, "the work went on after each kill", trial->kills - kills);
    judge(trial, "right after a kill, every join's counters were what its members say (BX-007)", inexact);
}

/* Neither done nor dead; in the end only the waits for joins that never end. */
static int64_t count_unended(struct trial *trial) {
    return sql_number(trial, "select count(*) from boxcar_message", "select count(*) from message") -
           count_finished(trial);
}

static int64_t count_open_joins(struct trial *trial) {
    return sql_number(trial, "select count(*) from boxcar_join where status = 0",
                      "select count(*) from join_row where status = 0");
}

/* Members of open joins whose message has ended. */
static int64_t count_unsettled(struct trial *trial) {
    return sql_number(trial,
                      "select count(*) from boxcar_join j join boxcar_member m using (join_id)"
                      " join boxcar_message x using (message_id) where j.status = 0 and m.status = 0"
                      " and (exists (select 1 from boxcar_dead d where d.work_id = x.work_id) or x.work_id <="
                      " (select f.last_id from boxcar_finished f where f.first_id <= x.work_id"
                      " order by f.first_id desc limit 1))",
                      "select count(*) from join_row j join outbox_join_member m using (join_id)"
                      " join message x using (message_id) where j.status = 0 and m.status = 'pending' and "
                      "(exists (select from dead d where d.work_id = x.work_id)"
                      " or exists (select from _finished(0::smallint, x.work_id)))");
}

static void wait_for_rest(struct trial *trial, int64_t short_joins, int64_t ms) {
    int64_t end = now_us() + ms * 1000, unended, open_joins, unsettled = 0;
    for (;;) {
        unended = count_unended(trial);
        open_joins = count_open_joins(trial);
        if (unended == JOIN_WAITS * short_joins && open_joins == short_joins &&
            (unsettled = count_unsettled(trial)) == 0)
            break;
        if (now_us() > end || workers_any_ended(trial))
            break;
        pause_ms(200);
    }
    printf("%s: %lld messages not ended, %lld joins open, %lld members unsettled in the end\n", trial->name,
           (long long)unended, (long long)open_joins, (long long)unsettled);
    judge(trial, "only what never ends is left in the end",
          llabs(unended - JOIN_WAITS * short_joins) + llabs(open_joins - short_joins) + unsettled);
}

/* BX-007, BX-041 to BX-046, JOIN-023, JOIN-030 to JOIN-032, JOIN-040 to JOIN-042, JOIN-053 to JOIN-057,
 * JOIN-060, JOIN-080, JOIN-081 */
static void run_joins(struct trial *trial) {
    static const char *const arguments[] = {"--concurrency", "2",      "--lease", "3000", "--maintain",
                                            "1000",          "--step", "2",       NULL};
    static const struct launch launch = {.arguments = arguments, .is_c_worker = true};
    struct worker *workers[WORKERS];
    struct fillers fillers = {.fallen = 0};
    struct totals totals = count_plans(trial);
    int64_t time_ms = 60000 + totals.messages * 10, held = 0;
    join_guard_install(trial);
    fillers_start(&fillers, trial);
    for (int i = 0; i < WORKERS; i++)
        workers[i] = worker_start(trial, &launch);
    kill_some(trial, &fillers, &launch, workers, totals.messages, time_ms);
    fillers_look(&fillers, true);
    judge(trial, "everything that was asked of joins was done, or refused for a good reason", fillers.fallen);
    if (!trial->has_failed)
        wait_for_rest(trial, totals.short_joins, time_ms);
    workers_terminate(trial);
    for (int i = 0; i < trial->worker_count; i++)
        held += trial->workers[i].held;
    printf("%s: the killed workers held %lld messages\n", trial->name, (long long)held);
    join_guard_judge(trial);
    check_joins(trial);
}

const struct scenario JOINS = {
    .run = run_joins, .messages = 100, .full_messages = 10000, .kills = 6, .full_kills = 100};
