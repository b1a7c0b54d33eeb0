/* The short way of most acks: one run of ids that is a whole lease. What it need not look at, and what it
 * must not pass over. */
#include "trap.h"

#include "actions.h"

#define EPOCH "(select max(epoch) from lease)"
/* The ids that it affected; all: of the run. */
#define ACK_RUN(owner, first, last, epoch)                                                                   \
    "select case when ids is null then 'all' else array_to_string(ids, ',') end "                            \
    "from _ack_run(0::smallint, " owner ", " first ", " last ", " epoch ") ids"
/* The same by SQL, which goes through _ack. */
#define ACK_IN_SQL(id) "select count(*) from outbox_ack(" WORKER ", array[" id "], array[" EPOCH "])"

static const char NOT_OURS[] = "a lease of somebody else is acked";
static const char TOO_MUCH[] = "an ack of a part took the rest along";
static const char STILL_PARKED[] = "a message is done and parked";
static const char UNCOUNTED[] = "an ack is not counted in its join";
static const char SILENT[] = "a call is no sign of life";

static int64_t count_status(PGconn *conn, const char *status) {
    return sql_number(conn, "select count(*) from outbox where status = '%s'", status);
}

/* BX-002, BX-004 */
static const char *fenced(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_run(conn, "select enqueue('t', 'p') from generate_series(1, 3)");
    assert_string_equal(sql_claim(conn, 3), "p,p,p");
    if (!same(sql_text(conn, ACK_RUN(OTHER_WORKER, "1", "3", EPOCH)), "") ||
        !same(sql_text(conn, ACK_RUN(WORKER, "1", "3", EPOCH " + 1")), ""))
        return NOT_OURS;
    sql_run(conn, ACK_RUN(WORKER, "1", "2", EPOCH));
    if (count_status(conn, "done") != 2 || count_status(conn, "in_progress") != 1)
        return TOO_MUCH;
    if (!same(sql_text(conn, ACK_RUN(WORKER, "2", "3", EPOCH)), "3"))
        return "an ack does not say what it affected";
    sql_run(conn, "select enqueue('t', 'p')");
    assert_string_equal(sql_claim(conn, 1), "p");
    assert_string_equal(sql_text(conn, ACK_RUN(WORKER, "4", "4", EPOCH)), "all");
    sql_run(conn, "select _fold_tally(0::smallint, 10)");
    return count_status(conn, "done") == 4 &&
                   sql_number(conn, "select sum(last_id - first_id + 1) from finished") == 4 &&
                   sql_number(conn, "select done from _stats(0::smallint, false)") == 4
               ? NULL
               : "what is done is not counted";
}

/* BX-004 */
static const char *parked(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_park(conn, "p");
    assert_string_equal(sql_claim(conn, 1), "p");
    assert_int_equal(sql_number(conn, "select count(*) from parked"), 1);
    sql_run(conn, ACK_RUN(WORKER, "1", "1", EPOCH));
    assert_int_equal(count_status(conn, "done"), 1);
    return sql_number(conn, "select count(*) from parked") == 0 ? NULL : STILL_PARKED;
}

/* Members that come into a join in each way, each in a store whose first join it is. They are acked one by
 * one, in both ways. */
static const char *counted(struct fixture *f, const char *enter) {
    PGconn *conn = sql_connect(f);
    sql_run(conn, "create temporary table j as select join_start(10) as id");
    sql_run(conn, "%s", enter);
    for (int i = 0; i < 2; i++) {
        sql_run(conn, "select _claim_by_topics(0::smallint, " WORKER ", '30 s', 1, null, true)");
        const char *id = sql_text(conn, "select lower(items) from lease");
        if (i == 0)
            sql_run(conn, "select _ack_run(0::smallint, " WORKER ", %s, %s, " EPOCH ")", id, id);
        else
            assert_int_equal(
                sql_number(conn, "select count(*) from outbox_ack(" WORKER ", array[%s], array[" EPOCH "])",
                           id),
                1);
        if (sql_number(conn, "select completed_steps from outbox_join") != i + 1)
            return UNCOUNTED;
    }
    return NULL;
}

/* BX-007, BX-041 */
static const char *counted_when_enqueued(struct fixture *f) {
    return counted(f, "select enqueue('t', 'p', join_id => id) from j, generate_series(1, 2)");
}

static const char *counted_under_an_id(struct fixture *f) {
    return counted(f, "select enqueue('t', 'p', join_id => id, message_id => gen_random_uuid()) from j, "
                      "generate_series(1, 2)");
}

static const char *counted_when_attached(struct fixture *f) {
    return counted(f, "select join_attach(id, (enqueue('t', 'p')).message_id) from j, generate_series(1, 2)");
}

static void go_silent(PGconn *conn) {
    sql_run(conn, "update instance_row set seen_at = seen_at - interval '61 s'");
    sql_run(conn, "update instance_sign set seen_at = seen_at - interval '61 s'");
}

static const char *silent_after(PGconn *conn, const char *call) {
    go_silent(conn);
    sql_run(conn, "%s", call);
    return sql_number(conn, "select _remove_stale()") == 0 ? NULL : SILENT;
}

#define REGISTER "select _register(" WORKER ", 0::smallint, 'h', 1, 1, '{}', '{}')"

/* Leases that are older than half a second; and a claim from the pool. BX-061 */
static const char *signs_of_life(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_run(conn, "select enqueue('t', 'p') from generate_series(1, 5)");
    for (int i = 0; i < 2; i++)
        assert_string_equal(sql_claim(conn, 1), "p");
    while (sql_number(
               conn,
               "select (extract(epoch from clock_timestamp()) * 1000000)::bigint - max(epoch) from lease") <
           600000)
        pause_ms(20);
    sql_run(conn, REGISTER);
    const char *verdict = silent_after(conn, ACK_RUN(WORKER, "1", "1", "(select min(epoch) from lease)"));
    if (!verdict)
        verdict = silent_after(conn, ACK_IN_SQL("2"));
    if (!verdict)
        assert_int_equal(count_status(conn, "done"), 2);
    if (!verdict)
        verdict =
            silent_after(conn, "select _claim_by_topics(0::smallint, " WORKER ", '30 s', 1, null, true)");
    if (!verdict) /* it takes nothing */
        verdict = silent_after(
            conn, ACK_RUN(WORKER, "100", "100", "(extract(epoch from clock_timestamp()) * 1000000)::bigint"));
    return verdict;
}

/* A sign was noted, then there was a claim nearly half a second later, and an ack as long after that: the
 * instance is silent since then. BX-061 */
static const char *silent_since_the_ack(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_run(conn, REGISTER);
    sql_run(conn, "select _note_life(" WORKER ")");
    go_silent(conn);
    return sql_number(conn, "select _remove_stale(clock_timestamp() - s.seen_at - interval '600 ms') from "
                            "instance_sign s") == 0
               ? NULL
               : "an instance is removed that acked in time";
}

/* A logical copy brings no sequences. BX-007, BX-061 */
static const char *flags_of_a_copy(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_run(conn, "update store set system_identifier = 'another'; update origin set xid = 0");
    assert_string_equal(sql_text(conn, "select adopt()"), "t");
    return sql_number(conn, "select num_nulls(pg_sequence_last_value('member_flag'), "
                            "pg_sequence_last_value('instance_flag'))") == 0
               ? NULL
               : "a copy does not know what it holds";
}

#define SET_MEMBER "perform setval(':\"schema\".member_flag', 1);"
#define NOT_SET(function)                                                                                    \
    { "the flag", function, SET_MEMBER, "null;", UNCOUNTED }

static const struct trap TRAPS[] = {
    {"an_ack_of_a_run_takes_a_whole_lease_of_its_owner_or_looks_closer",
     fenced,
     {{"the owner", "_ack_run", "and l.owner is not distinct from p_owner", "", NOT_OURS},
      {"the epoch", "_ack_run", "and l.epoch = p_epoch", "", NOT_OURS},
      {"the whole lease", "_ack_run", "and l.items = int8multirange(int8range(p_first, p_last + 1))", "",
       TOO_MUCH}}},
    {"an_ack_of_a_run_leaves_nothing_parked",
     parked,
     {{"leaving it to the other way", "_ack_run", "and not l.has_parked", "", STILL_PARKED}}},
    {"an_ack_counts_in_the_first_join_into_which_a_message_was_enqueued",
     counted_when_enqueued,
     {NOT_SET("_attach_fresh"),
      {"looking in a run", "_ack_run", "pg_sequence_last_value(':\"schema\".member_flag') is null", "true",
       UNCOUNTED},
      {"looking", "_ack",
       "if p_box < 2 and pg_sequence_last_value(':\"schema\".member_flag') is not null then", "if false then",
       UNCOUNTED}}},
    {"an_ack_counts_in_the_first_join_to_which_a_message_was_attached",
     counted_when_attached,
     {NOT_SET("_attach")}},
    {"an_ack_counts_in_the_first_join_of_a_message_with_a_given_id",
     counted_under_an_id,
     {NOT_SET("_attach_enqueued")}},
    {"claims_and_acks_are_signs_of_life",
     signs_of_life,
     {{"of a run", "_ack_run", "between -64 and 500000", "> 0", SILENT},
      {"of one", "_ack", "between -64 and 500000", "> 0", SILENT},
      {"of nothing", "_ack",
       "is_step := false;\n    end if;\n    perform :\"schema\"._sign_of_life(p_owner);",
       "is_step := false;\n    end if;", SILENT},
      {"at once", "_claim_at_once", "if pg_sequence_last_value(':\"schema\".instance_flag') is not null then",
       "if false then", SILENT},
      {"the flag", "_register", "perform setval(':\"schema\".instance_flag', 1);", "null;", SILENT}}},
    {"an_ack_that_noted_no_sign_of_life_is_one",
     silent_since_the_ack,
     {{"its time", "_remove_stale", "s.seen_at > since - interval '1 second'",
       "s.seen_at > since - interval '500 milliseconds'", "an instance is removed that acked in time"}}},
    {"a_copy_looks_for_members_and_instances",
     flags_of_a_copy,
     {{"members", "adopt", ", setval(':\"schema\".member_flag', 1)", "",
       "a copy does not know what it holds"},
      {"instances", "adopt", "setval(':\"schema\".instance_flag', 1)", "null",
       "a copy does not know what it holds"}}},
};

const struct trap_group ACK_RUN_TRAPS = TRAP_GROUP(TRAPS);
