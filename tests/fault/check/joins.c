/* What became of the joins, by SQL over the views and tables of the store, against what was planned. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "join_trial.h"

/* ---- the evidence, copied once into tables of the trial's own: one text for both stores from here on ----
 */

static const char *const COPY[][2] = {
    {"create table storm_join as select join_id, cast(metadata as integer) as number, expected_steps,"
     " completed_steps, failed_steps, status, coalesce(reason, '') as reason from boxcar_outbox_join",
     "create table storm_join as select join_id, metadata::int as number, expected_steps, completed_steps,"
     " failed_steps, status, coalesce(reason, '') as reason from outbox_join"},
    {"create table storm_member as select join_id, message_id, status from boxcar_outbox_join_member",
     "create table storm_member as select join_id, message_id, status from outbox_join_member"},
    {"create table storm_fate as select work_id, message_id, topic, payload, correlation_id, status"
     " from boxcar_outbox",
     /* the view looks up the evidence of every message by itself */
     "create table storm_fate as with done as ("
     " select generate_series(f.first_id, f.last_id) as work_id from finished f)"
     " select m.work_id, m.message_id, m.topic, m.payload, m.correlation_id, case"
     " when d.work_id is not null then 'failed' when f.work_id is not null then 'done' else 'ready' end as "
     "status"
     " from message m left join dead d using (work_id) left join done f using (work_id)"},
    {"create index storm_fate_message on storm_fate (message_id)",
     "create index storm_fate_message on storm_fate (message_id)"},
    {"create index storm_member_join on storm_member (join_id)",
     "create index storm_member_join on storm_member (join_id)"},
    {"analyze", "analyze storm_join, storm_member, storm_fate"},
};

static void ignore_row(void *context, const char *const *values) {
    (void)context;
    (void)values;
}

static void copy_evidence(struct trial *trial) {
    for (size_t i = 0; i < sizeof(COPY) / sizeof(COPY[0]); i++)
        ledger_sql_each(&trial->ledger, COPY[i][0], COPY[i][1], ignore_row, NULL);
}

static int64_t ask(struct trial *trial, const char *text) { return sql_number(trial, text, text); }

/* ---- what the store says about joins and members, by itself ---- */

struct question {
    const char *promise, *text;
};

static const struct question QUESTIONS[] = {
    {"every join's counters are what its members say (BX-007)",
     "select count(*) from storm_join j left join (select join_id,"
     " sum(case when status = 'completed' then 1 else 0 end) as completed,"
     " sum(case when status = 'failed' then 1 else 0 end) as failed from storm_member group by join_id) m"
     " on m.join_id = j.join_id where j.completed_steps <> coalesce(m.completed, 0)"
     " or j.failed_steps <> coalesce(m.failed, 0)"},
    {"no join counted more than it expected (JOIN-023)",
     "select count(*) from storm_join where completed_steps + failed_steps > expected_steps"},
    {"a join is completed or failed exactly when it counted all (JOIN-040, JOIN-041)",
     "select count(*) from storm_join where status <> case when reason = 'timed_out' then 'failed'"
     " when status = 'cancelled' then 'cancelled' when completed_steps + failed_steps < expected_steps"
     " then 'pending' when failed_steps > 0 then 'failed' else 'completed' end"},
    {"what timed out or was cancelled had not counted all (BX-046)",
     "select count(*) from storm_join where (reason = 'timed_out' or status = 'cancelled')"
     " and completed_steps + failed_steps >= expected_steps"},
    {"no member's outcome is another one than its message's (JOIN-030, JOIN-031)",
     "select count(*) from storm_member m join storm_fate f on f.message_id = m.message_id"
     " where (m.status = 'completed' and f.status <> 'done') or (m.status = 'failed' and f.status <> "
     "'failed')"},
    {"no message that ended is missing in an open join (BX-042)",
     "select count(*) from storm_member m join storm_join j on j.join_id = m.join_id"
     " join storm_fate f on f.message_id = m.message_id"
     " where j.status = 'pending' and m.status = 'pending' and f.status <> 'ready'"},
    {"every step ended by the verdict of its handler (BX-003, BX-004)",
     "select count(*) from storm_fate where topic = '" STEP_TOPIC "'"
     " and status <> case when payload in ('good', 'again') then 'done' else 'failed' end"},
    {"every continuation was delivered (BX-001)",
     "select count(*) from storm_fate where topic like 'then.%' and status <> 'done'"},
    {"no wait died", "select count(*) from storm_fate where topic = 'join.wait' and status = 'failed'"},
    {"no message is there twice", "select count(*) from (select message_id from storm_fate group by "
                                  "message_id having count(*) > 1) as twice"},
};

static void check_by_question(struct trial *trial) {
    for (size_t i = 0; i < sizeof(QUESTIONS) / sizeof(QUESTIONS[0]); i++)
        judge(trial, QUESTIONS[i].promise, ask(trial, QUESTIONS[i].text));
}

/* ---- joins and their waits against the plan ---- */

struct end {
    bool is_there;
    char status[12];
    bool timed_out;
    int64_t completed, failed;
    struct {
        int count;
        bool is_done;
        int continuations;
        bool on_fail; /* of the last continuation */
        bool has_right_id, has_right_payload;
    } waits[JOIN_WAITS];
};

struct ends {
    struct trial *trial;
    struct end *rows; /* by the joins' numbers */
};

static void add_join(void *context, const char *const *values) {
    struct ends *ends = context;
    int64_t number = strtoll(values[0], NULL, 10);
    if (number < 0 || number >= ends->trial->messages || ends->rows[number].is_there) {
        offend(&ends->trial->ledger, "join %lld is unknown or there twice", (long long)number);
        return;
    }
    struct end *end = &ends->rows[number];
    end->is_there = true;
    snprintf(end->status, sizeof(end->status), "%s", values[1]);
    end->timed_out = strcmp(values[2], "timed_out") == 0;
    end->completed = strtoll(values[3], NULL, 10);
    end->failed = strtoll(values[4], NULL, 10);
}

/* The correlation id of a wait and of its continuation, "JOIN WAIT", is also the payload of the latter. */
static void add_wait_or_continuation(void *context, const char *const *values) {
    struct ends *ends = context;
    long long number;
    int wait;
    boxcar_message_id id;
    if (sscanf(values[0], "%lld %d", &number, &wait) != 2 || number < 0 || number >= ends->trial->messages ||
        wait < 0 || wait >= JOIN_WAITS || !boxcar_uuid_parse(boxcar_str_of(values[4]), &id.uuid)) {
        offend(&ends->trial->ledger, "message %s of topic %s belongs to nothing", values[4], values[1]);
        return;
    }
    struct end *end = &ends->rows[number];
    if (strcmp(values[1], "join.wait") == 0) {
        end->waits[wait].count++;
        end->waits[wait].is_done = strcmp(values[3], "done") == 0;
        return;
    }
    boxcar_message_id derived = boxcar_join_continuation_id(wait_id(number, wait));
    end->waits[wait].continuations++;
    end->waits[wait].on_fail = strcmp(values[1], ON_FAIL_TOPIC) == 0;
    end->waits[wait].has_right_id = memcmp(derived.uuid.bytes, id.uuid.bytes, sizeof(id.uuid.bytes)) == 0;
    end->waits[wait].has_right_payload = strcmp(values[0], values[2]) == 0;
}

static void read_ends(struct ends *ends) {
    static const char ROWS[] =
        "select number, status, reason, completed_steps, failed_steps from storm_join order by number";
    static const char WAITS[] = "select correlation_id, topic, payload, status, message_id from storm_fate"
                                " where topic = 'join.wait' or topic like 'then.%'";
    ends->rows = calloc((size_t)ends->trial->messages, sizeof(*ends->rows));
    if (!ends->rows)
        err(99, "ends");
    ledger_sql_each(&ends->trial->ledger, ROWS, ROWS, add_join, ends);
    ledger_sql_each(&ends->trial->ledger, WAITS, WAITS, add_wait_or_continuation, ends);
}

static bool is_cut(const struct end *end) { return end->timed_out || strcmp(end->status, "cancelled") == 0; }

/* How many members complete and fail when all have ended. */
static void count_planned(struct trial *trial, const struct join_plan *plan, int64_t *completed,
                          int64_t *failed) {
    *completed = *failed = 0;
    for (int i = 0; i < plan->step_count; i++)
        *(step_succeeds(plan->steps[i].kind) ? completed : failed) += 1;
    if (plan->borrows) {
        struct join_plan before;
        join_plan_make(&before, trial->storm.seed, trial->full, plan->number - 1);
        *(step_succeeds(before.steps[before.step_count - 1].kind) ? completed : failed) += 1;
    }
}

static bool is_as_planned(struct trial *trial, const struct join_plan *plan, const struct end *end) {
    int64_t completed, failed;
    bool pending = strcmp(end->status, "pending") == 0;
    if (!end->is_there || pending != (plan->kind == JOIN_SHORT) ||
        (end->timed_out && plan->kind != JOIN_DEADLINE) ||
        (strcmp(end->status, "cancelled") == 0 && plan->kind != JOIN_CANCELLED))
        return false;
    if (plan->kind == JOIN_OVERFULL)
        return end->completed + end->failed == plan->expected;
    count_planned(trial, plan, &completed, &failed);
    return is_cut(end) ? end->completed <= completed && end->failed <= failed
                       : end->completed == completed && end->failed == failed;
}

enum continuation { NOTHING, ON_COMPLETE, ON_FAIL };

/* JOIN-054, JOIN-055, BX-046 */
static enum continuation choose(const struct join_plan *plan, const struct end *end, int wait) {
    if (strcmp(end->status, "pending") == 0)
        return NOTHING;
    if (!is_cut(end) && (end->failed == 0 || wait_allows_failures(wait)))
        return ON_COMPLETE;
    return plan->has_on_fail[wait] ? ON_FAIL : NOTHING;
}

static void check_wait(struct trial *trial, const struct join_plan *plan, const struct end *end, int wait) {
    enum continuation wanted = choose(plan, end, wait);
    bool pending = strcmp(end->status, "pending") == 0;
    if (end->waits[wait].count != 1 || end->waits[wait].is_done == pending)
        offend(&trial->ledger, "join %lld is %s, wait %d is there %d times and %s", (long long)plan->number,
               end->status, wait, end->waits[wait].count, end->waits[wait].is_done ? "done" : "not done");
    if (end->waits[wait].continuations != (wanted != NOTHING))
        offend(&trial->ledger, "join %lld is %s, wait %d has %d continuations", (long long)plan->number,
               end->status, wait, end->waits[wait].continuations);
    else if (wanted != NOTHING && (end->waits[wait].on_fail != (wanted == ON_FAIL) ||
                                   !end->waits[wait].has_right_id || !end->waits[wait].has_right_payload))
        offend(&trial->ledger, "join %lld is %s, wait %d has the wrong continuation", (long long)plan->number,
               end->status, wait);
}

static void check_against_plan(struct trial *trial) {
    struct ends ends = {.trial = trial};
    struct join_plan plan;
    read_ends(&ends);
    conclude(&trial->ledger, &trial->verdict, "nothing is there that nobody asked for");
    for (int64_t i = 0; i < trial->messages; i++) {
        const struct end *end = &ends.rows[i];
        join_plan_make(&plan, trial->storm.seed, trial->full, i);
        if (!is_as_planned(trial, &plan, end))
            offend(&trial->ledger, "join %lld of kind %d, %lld expected: %s%s, %lld completed, %lld failed",
                   (long long)i, (int)plan.kind, (long long)plan.expected, end->status,
                   end->timed_out ? " (timed out)" : "", (long long)end->completed, (long long)end->failed);
    }
    conclude(&trial->ledger, &trial->verdict,
             "every join counted the verdicts of its handlers and ended accordingly");
    for (int64_t i = 0; i < trial->messages; i++) {
        join_plan_make(&plan, trial->storm.seed, trial->full, i);
        for (int wait = 0; wait < JOIN_WAITS; wait++)
            check_wait(trial, &plan, &ends.rows[i], wait);
    }
    conclude(
        &trial->ledger, &trial->verdict,
        "every wait has exactly the continuation that it should have (JOIN-054, JOIN-055, BX-045, BX-046)");
    free(ends.rows);
}

/* ---- telling what there was ---- */

static void show_group(void *context, const char *const *values) {
    (void)context;
    printf(" %s %s,", values[1], values[0]);
}

static void show(struct trial *trial, const char *what, const char *text) {
    printf("%s: %s:", trial->name, what);
    ledger_sql_each(&trial->ledger, text, text, show_group, NULL);
    printf(" counted by SQL\n");
}

static void show_counts(struct trial *trial) {
    show(trial, "joins",
         "select case when reason = 'timed_out' then 'timed out' else status end as name, count(*) from "
         "storm_join"
         " group by 1 order by 1");
    show(trial, "members", "select status, count(*) from storm_member group by 1 order by 1");
    show(trial, "members left over in joins that",
         "select j.status, count(*) from storm_member m join storm_join j on j.join_id = m.join_id"
         " where m.status = 'pending' and j.status in ('completed', 'failed') and j.reason = '' group by 1 "
         "order by 1");
    show(trial, "messages",
         "select topic || ' ' || status as name, count(*) from storm_fate group by 1 order by 1");
}

/* What a worker held when it was killed had to be done again. */
static void show_repeated(struct trial *trial) {
    printf("%s: done again after a kill:", trial->name);
    ledger_sql_each(
        &trial->ledger,
        "select f.topic, count(*) from boxcar_attempt a join storm_fate f on f.work_id = a.work_id"
        " where a.outcome = 'lease_expired' group by 1 order by 1",
        "select f.topic, count(*) from attempt a join storm_fate f on f.work_id = a.work_id"
        " where a.outcome = 'lease_expired' group by 1 order by 1",
        show_group, NULL);
    printf(" counted by SQL\n");
}

void check_joins(struct trial *trial) {
    copy_evidence(trial);
    show_counts(trial);
    show_repeated(trial);
    check_by_question(trial);
    check_against_plan(trial);
}
