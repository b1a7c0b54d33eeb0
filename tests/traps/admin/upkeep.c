/* Upkeep while somebody else holds an old snapshot: what it has removed stays in the tables, and a round must
 * not read all of that again. What is committed late, behind the place where upkeep has come, must be found
 * all the same. */
#include "trap.h"

enum { MESSAGES = 2000, ROUNDS = 15, FEW_PAGES = 30 };

static const char FOLDS_AGAIN[] = "folding reads again what was folded";
static const char FOLDS_OTHERS[] = "folding reads again and again what the other box has";
static const char PURGES_AGAIN[] = "purging reads again what was purged";
static const char READS_FOLDED[] = "purging looks for what was folded long ago";
static const char NEVER_FOLDED[] = "what was acked in a long transaction is never counted";
static const char NEVER_PURGED[] = "what was acked in a long transaction is never purged";
static const char MISCOUNTS[] = "the counters are wrong";

/* Messages that are done, as acks of two at a time leave them. */
static void finish(PGconn *conn, int messages) {
    sql_run(conn,
            "with m as (insert into message (message_id, box, lane, created_at, topic, payload) "
            "select gen_random_uuid(), 0, 2, now(), 't', '' from generate_series(1, %d) returning work_id), "
            "run as (select min(work_id) as first_id, max(work_id) as last_id from m group by work_id / 2), "
            "done as (insert into finished (first_id, last_id, box, epoch, owner, at) "
            "select first_id, last_id, 0, 1, gen_random_uuid(), clock_timestamp() from run) "
            "insert into tally_delta select first_id, last_id, 0 from run",
            messages);
}

static PGconn *hold_snapshot(struct fixture *f) {
    PGconn *holder = sql_connect(f);
    sql_run(holder, "begin isolation level repeatable read");
    sql_run(holder, "select pg_current_xact_id()");
    return holder;
}

static void keep_nothing(PGconn *conn) {
    sql_run(conn, "insert into setting (name, number) values ('retention_done', 0)");
}

static void look_again(PGconn *conn) { sql_run(conn, "update upkeep_look set look_at = '-infinity'"); }

static void fold_all(PGconn *conn) {
    while (sql_number(conn, "select _fold_tally(0::smallint, %d)", MESSAGES) >= MESSAGES)
        continue;
}

/* Purges `expected` messages, or others if it reads tally_delta at all. Returns how many of its rows it
 * reads. */
static int64_t purge_reading_counters(PGconn *conn, int expected) {
    sql_run(conn, "begin");
    int64_t before = sql_reads(conn, "tally_delta"); /* the server may count earlier transactions, too */
    int64_t purged = sql_number(conn, "select _purge_done(0::smallint, %d)", MESSAGES);
    int64_t read = sql_reads(conn, "tally_delta") - before;
    sql_run(conn, "commit");
    assert_true(read > 0 || purged == expected);
    return read;
}

/* A round may read more because it makes plans, or because statistics have changed. So three rounds count as
 * one: the one that reads least. The first ones make plans and look at everything. */
static void keep_least(int64_t least[ROUNDS / 3], int round, int64_t pages) {
    if (round % 3 == 0 || pages < least[round / 3])
        least[round / 3] = pages;
}

static bool grows(const int64_t least[ROUNDS / 3]) { return least[ROUNDS / 3 - 1] > least[1] + FEW_PAGES; }

static const char *folding(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    int64_t own[ROUNDS / 3], other[ROUNDS / 3];
    hold_snapshot(f);
    for (int round = 0; round < ROUNDS; round++) {
        finish(conn, MESSAGES);
        keep_least(own, round, sql_pages(conn, "select _fold_tally(0::smallint, %d)", MESSAGES));
        keep_least(other, round, sql_pages(conn, "select _fold_tally(1::smallint, %d)", MESSAGES));
    }
    assert_int_equal(sql_number(conn, "select done from tally"), ROUNDS * MESSAGES);
    if (grows(own))
        return FOLDS_AGAIN;
    return grows(other) ? FOLDS_OTHERS : NULL;
}

static const char *purging(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    int64_t least[ROUNDS / 3];
    keep_nothing(conn);
    for (int round = 0; round < ROUNDS; round++)
        finish(conn, MESSAGES);
    hold_snapshot(f);
    fold_all(conn);
    for (int round = 0; round < ROUNDS; round++)
        keep_least(least, round, sql_pages(conn, "select _purge_done(0::smallint, %d)", MESSAGES));
    assert_int_equal(sql_number(conn, "select count(*) from message"), 0);
    assert_int_equal(sql_number(conn, "select done from tally"), 0);
    return grows(least) ? PURGES_AGAIN : NULL;
}

static const char *purging_folded(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    keep_nothing(conn);
    finish(conn, 2);
    look_again(conn);
    fold_all(conn);
    sql_run(conn,
            "insert into tally_delta values (-1, -1, 0)"); /* a call that reads the table meets this row */
    return purge_reading_counters(conn, 2) > 0 ? READS_FOLDED : NULL;
}

/* The long transaction has acked first, so what it wrote lies in front. */
static PGconn *finish_in_a_long_transaction(struct fixture *f, PGconn *conn) {
    PGconn *acker = sql_connect(f);
    sql_run(acker, "begin");
    finish(acker, 2);
    finish(conn, 2 * MESSAGES);
    fold_all(conn);
    return acker;
}

static const char *late_counters(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    PGconn *acker = finish_in_a_long_transaction(f, conn);
    sql_run(acker, "commit");
    fold_all(conn);
    look_again(conn);
    fold_all(conn);
    return sql_number(conn, "select done from tally") == 2 * MESSAGES + 2 ? NULL : NEVER_FOLDED;
}

static const char *late_runs(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    PGconn *acker = finish_in_a_long_transaction(f, conn);
    keep_nothing(conn);
    assert_int_equal(sql_number(conn, "select _purge_done(0::smallint, %d)", 10 * MESSAGES), 2 * MESSAGES);
    sql_run(acker, "commit");
    look_again(conn);
    fold_all(conn);
    if (sql_number(conn, "select _purge_done(0::smallint, 10)") != 2)
        return NEVER_PURGED;
    return sql_number(conn, "select done from tally") == 0 ? NULL : MISCOUNTS;
}

/* Purged before it was counted. */
static const char *purged_early(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    PGconn *acker = finish_in_a_long_transaction(f, conn);
    sql_run(acker, "commit");
    keep_nothing(conn);
    assert_int_equal(sql_number(conn, "select _purge_done(0::smallint, %d)", 10 * MESSAGES),
                     2 * MESSAGES + 2);
    look_again(conn);
    fold_all(conn);
    return sql_number(conn, "select done from tally") == 0 ? NULL : MISCOUNTS;
}

/* Another server's numbers say nothing of what was counted here, and a restored store keeps those of the old
 * one. */
static const char *restored(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    finish(conn, 2);
    fold_all(conn);
    finish(conn, 2);
    sql_run(conn, "update upkeep_look set folded = '9000000000000:9000000000000:'");
    sql_run(conn, "update store set system_identifier = 'another'");
    keep_nothing(conn);
    assert_int_equal(sql_number(conn, "select _purge_done(0::smallint, 10)"), 4);
    look_again(conn);
    fold_all(conn);
    if (sql_number(conn, "select done from tally") != 0)
        return MISCOUNTS;
    sql_run(conn, "select adopt()");
    return sql_number(conn, "select count(*) from upkeep_look where folded is not null") == 0 ? NULL
                                                                                              : MISCOUNTS;
}

/* While tally_delta is large, what no look has counted waits for the next one. */
static const char *large(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    keep_nothing(conn);
    sql_run(conn, "insert into tally_delta select -1, -1, 0 from generate_series(1, 150000)");
    fold_all(conn);
    finish(conn, 2);
    if (purge_reading_counters(conn, 0) > 0)
        return READS_FOLDED;
    look_again(conn);
    fold_all(conn);
    assert_int_equal(sql_number(conn, "select _purge_done(0::smallint, %d)", MESSAGES), 2);
    return sql_number(conn, "select done from tally") == 0 ? NULL : MISCOUNTS;
}

static const struct trap TRAPS[] = {
    {"folding_costs_the_same_under_an_old_snapshot",
     folding,
     {{"the page where the last round ended", "_fold_tally", "l.delta_from := ", "perform ", FOLDS_AGAIN},
      {"passing over the other box", "_fold_tally", "l.delta_from := greatest(l.delta_from, pages - 1);",
       "null;", FOLDS_OTHERS}}},
    {"purging_costs_the_same_under_an_old_snapshot",
     purging,
     {{"the time where the last round ended", "_purge_done", "and x.at >= l.finished_from", "",
       PURGES_AGAIN}}},
    {"purging_does_not_look_for_what_was_folded",
     purging_folded,
     {{"what the last look has folded", "_purge_done", "if not is_folded then", "if true then",
       READS_FOLDED}}},
    {"what_was_acked_in_a_long_transaction_is_counted",
     late_counters,
     {{"the look at all pages", "_fold_tally", "l.look := pg_current_snapshot();\n        l.delta_from := 0;",
       "l.look := pg_current_snapshot();", NEVER_FOLDED}}},
    {"what_was_acked_in_a_long_transaction_is_purged",
     late_runs,
     {{"the look at all times", "_fold_tally", "l.finished_from := '-infinity';", "", NEVER_PURGED}}},
    {"what_is_purged_before_it_was_counted_is_not_counted_down",
     purged_early,
     {{"the look for what was not folded", "_purge_done", "if not is_folded then", "if false then",
       MISCOUNTS},
      {"the snapshot of the look", "_fold_tally", "l.look := pg_current_snapshot();",
       "l.look := '9000000000000:9000000000000:';", MISCOUNTS}}},
    {"a_restored_store_does_not_trust_numbers_of_the_old_one",
     restored,
     {{"the identity", "_purge_done", "l.folded := null;", "null;", MISCOUNTS},
      {"forgetting them", "adopt", ", look = null, folded = null", "", MISCOUNTS}}},
    {"a_large_table_of_counters_is_not_read_to_purge",
     large,
     {{"leaving what was not counted", "_purge_done", "where f.is_folded or not is_large or l.folded is null",
       "", READS_FOLDED}}},
};

const struct trap_group UPKEEP_TRAPS = TRAP_GROUP(TRAPS);
