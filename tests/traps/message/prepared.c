/* Prepared transactions, on a server that has them (with-prepared). A transaction that has notified cannot be
 * prepared, and one that has the claimers' turn must not be: nobody could claim until somebody ends it. */
#include <stdio.h>

#include "trap.h"

static const char REFUSED[] = "an enqueue cannot be prepared while somebody sleeps for its topic";
static const char NOT_WOKEN[] = "a sleeper is not woken by an ordinary transaction";
static const char KEEPS[] = "a prepared transaction keeps the turn";

/* A worker that sleeps for every topic and listens. */
static PGconn *sleeper(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_run(conn, "select _fall_asleep(" WORKER ", 0::smallint, '{}', '{\"\"}', '60 s', true)");
    return conn;
}

static bool is_woken(PGconn *conn) {
    sql_run(conn, "select 1"); /* reads what has arrived */
    PGnotify *note = PQnotifies(conn);
    bool woken = note != NULL;
    PQfreemem(note);
    return woken;
}

/* Ways to write it. */
static const char *const WORDS[] = {"prepare transaction", "PREPARE\n\tTransaction",
                                    "prepare/* c */transaction", "prepare -- c\n transaction",
                                    "/* a */ prepare /* /* b */ c */ /**/ transaction"};
enum { WORDINGS = sizeof(WORDS) / sizeof(WORDS[0]) };

static const char *prepare_by(PGconn *conn, struct fixture *f, const char *words) {
    return sql_state(conn, "%s '%s'", words, f->schema);
}

static const char *prepare(PGconn *conn, struct fixture *f) { return prepare_by(conn, f, WORDS[0]); }

static void finish(PGconn *conn, struct fixture *f, const char *how) {
    sql_run(conn, "%s prepared '%s'", how, f->schema);
}

/* BX-001, BX-012 */
static const char *enqueue_in_a_prepared_transaction(struct fixture *f) {
    PGconn *worker = sleeper(f), *producer = sql_connect(f);
    sql_run(producer, "begin");
    sql_enqueue(producer, "prepared");
    sql_run(producer, "select * from enqueue_many('[{\"topic\": \"t\", \"payload\": \"too\"}]')");
    if (!same(prepare(producer, f), "")) {
        sql_run(producer, "rollback");
        return REFUSED;
    }
    assert_string_equal(sql_claim(worker, 10), "");
    finish(producer, f, "commit");
    assert_false(is_woken(worker));
    assert_string_equal(sql_claim(worker, 10), "prepared,too");
    return NULL;
}

/* BX-012 */
static const char *enqueue_in_an_ordinary_transaction(struct fixture *f) {
    PGconn *worker = sleeper(f), *producer = sql_connect(f);
    sql_enqueue(producer, "alone");
    if (!is_woken(worker))
        return NOT_WOKEN;
    sql_run(producer, "begin");
    sql_enqueue(producer, "rolled back");
    sql_run(producer, "rollback");
    assert_false(is_woken(worker));
    sql_run(producer, "begin");
    sql_enqueue(producer, "committed");
    sql_run(producer, "commit");
    return is_woken(worker) ? NULL : NOT_WOKEN;
}

/* BX-001: however it is written. */
static const char *enqueue_prepared_in_other_words(struct fixture *f) {
    PGconn *worker = sleeper(f), *producer = sql_connect(f);
    for (int i = 0; i < WORDINGS; i++) {
        sql_run(producer, "begin");
        sql_enqueue(producer, "p");
        if (!same(prepare_by(producer, f, WORDS[i]), "")) {
            sql_run(producer, "rollback");
            return REFUSED;
        }
        finish(producer, f, "commit");
        assert_false(is_woken(worker));
        assert_string_equal(sql_claim(worker, 10), "p");
    }
    sql_run(producer, "begin");
    sql_enqueue(producer, "ordinary");
    sql_run(producer, "commit /* prepare, then transaction */");
    return is_woken(worker) ? NULL : NOT_WOKEN;
}

/* Whether a transaction with this in it is refused, and leaves the turn to others. */
static bool is_refused_by(struct fixture *f, const char *statement, const char *words) {
    PGconn *conn = sql_connect(f), *other = sql_connect(f);
    sql_run(conn, "begin");
    sql_run(conn, "%s", statement);
    const char *state = prepare_by(conn, f, words);
    bool refused = same(state, "BX004");
    if (refused) {
        sql_run(conn, "rollback");
        sql_run(other, "begin; lock table outbox_turn in share update exclusive mode nowait; rollback");
    } else {
        finish(conn, f, "rollback");
    }
    return refused;
}

static bool is_refused(struct fixture *f, const char *statement) {
    return is_refused_by(f, statement, WORDS[0]);
}

/* BX-020 */
static const char *turn_prepared_in_other_words(struct fixture *f) {
    for (int i = 0; i < WORDINGS; i++)
        if (!is_refused_by(f, CLAIM(WORKER, "'30 s'", "10"), WORDS[i]))
            return KEEPS;
    return NULL;
}

/* One that has the turn nevertheless is found by its name, and by whom it belongs to. BX-020 */
static const char *prepared_transaction_with_the_turn(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_run(conn, "begin; lock table outbox_turn in share update exclusive mode");
    assert_string_equal(sql_state(conn, "prepare transaction 'it''s %s'", f->schema), "");
    int64_t found =
        sql_number(conn,
                   "select count(*) from _claim_blockers(0::smallint) where pid is null and has_turn "
                   "and gid = quote_literal('it''s %s') and role_name = current_user and seconds >= 0",
                   f->schema);
    sql_run(conn, "rollback prepared 'it''s %s'", f->schema);
    assert_int_equal(sql_number(conn, "select count(*) from _claim_blockers(0::smallint)"), 0);
    return found == 1 ? NULL : "a prepared transaction has no name";
}

/* With and without work, and with every other function that takes the turn. BX-020 */
static const char *turn_in_a_prepared_transaction(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    if (!is_refused(f, CLAIM(WORKER, "'30 s'", "10")))
        return KEEPS;
    sql_enqueue(conn, "fresh");
    if (!is_refused(f, CLAIM(WORKER, "'30 s'", "10")) ||
        !is_refused(f, "select outbox_claim(" WORKER ", '30 s', 10)")) /* it has no turn, but the message */
        return KEEPS;
    sql_run(conn, "begin");
    sql_run(conn, CLAIM(WORKER, "'30 s'", "10"));
    sql_run(conn, "commit"); /* an ordinary end is nobody's business */
    return NULL;
}

/* BX-002 */
static const char *ack_in_a_prepared_transaction(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_enqueue(conn, "p");
    assert_string_equal(sql_claim(conn, 1), "p");
    sql_run(conn, "begin");
    assert_int_equal(sql_number(conn, "select outbox_ack(" WORKER ", array[1])"), 1);
    assert_string_equal(prepare(conn, f), "");
    finish(conn, f, "commit");
    return sql_number(conn, "select count(*) from outbox where status = 'done'") == 1 ? NULL
                                                                                      : "an ack was lost";
}

/* Nor does it help to call triggers before the end. BX-020, BX-030 */
static const char *constraints_made_immediate(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_enqueue(conn, "fresh");
    static const char SET[] = "set constraints all immediate",
                      INSIDE[] = "select outbox_claim(" WORKER ", '30 s', 10)";
    char after[200], before[200], twice[300];
    snprintf(after, sizeof(after), "%s; %s", INSIDE, SET);
    snprintf(before, sizeof(before), "%s; %s", SET, INSIDE);
    snprintf(twice, sizeof(twice), "%s; %s; %s; %s", INSIDE, SET, INSIDE, SET);
    return is_refused(f, after) && is_refused(f, before) && is_refused(f, twice) ? NULL : KEEPS;
}

/* The words may be in any text; then they do nothing. BX-012 */
static const char *words_that_do_nothing(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_enqueue(conn, "fresh");
    return same(sql_state(conn, "select outbox_claim(" WORKER
                                ", '30 s', 10, '{prepare transaction}') -- prepare transaction 'x'"),
                "") &&
                   same(sql_state(conn,
                                  "/* prepare transaction */ select outbox_claim(" WORKER ", '30 s', 10)"),
                        "")
               ? NULL
               : "a claim is refused for what is in its text";
}

static const struct trap TRAPS[] = {
    {"an_enqueue_can_be_prepared_while_somebody_sleeps",
     enqueue_in_a_prepared_transaction,
     {{"leaving it to the end", "_wake", "current_setting('max_prepared_transactions') = '0'", "true",
       REFUSED},
      {"looking how it ends", "_at_end", ")*prepare(", ")*none(", REFUSED}}},
    {"an_enqueue_is_prepared_whatever_stands_between_the_words",
     enqueue_prepared_in_other_words,
     {{"comments between them", "_at_end", "|/\\*.*\\*/", "", REFUSED},
      {"comments to the end of the line", "_at_end", "|--[^\\r\\n]*[\\r\\n]", "", REFUSED}}},
    {"sleepers_are_woken_where_transactions_can_be_prepared",
     enqueue_in_an_ordinary_transaction,
     {{"waking them at the end", "_at_end", "elsif not new.has_turn and not is_prepared then",
       "elsif false then", NOT_WOKEN}}},
    {"a_transaction_with_the_turn_is_not_prepared",
     turn_in_a_prepared_transaction,
     {{"noting it", "*", "if current_setting('max_prepared_transactions') <> '0' then", "if false then",
       KEEPS},
      {"refusing it", "_at_end", "if new.has_turn and is_prepared then", "if false then", KEEPS}}},
    {"a_transaction_with_the_turn_is_not_prepared_whatever_stands_between_the_words",
     turn_prepared_in_other_words,
     {{"comments between them", "_at_end", "|/\\*.*\\*/", "", KEEPS}}},
    {"a_transaction_that_has_claimed_is_not_prepared_after_set_constraints",
     constraints_made_immediate,
     {{"noting it again", "_at_end", "elsif not :\"schema\"._is_ending(new.noted_at) then",
       "elsif false then", KEEPS}}},
    {"a_claim_is_not_refused_for_words_that_do_nothing",
     words_that_do_nothing,
     {{"looking where they stand", "_at_end", "(^|;)", "", "a claim is refused for what is in its text"}}},
    {"a_prepared_transaction_with_the_turn_has_a_name",
     prepared_transaction_with_the_turn,
     {{"the number of its transaction", "_session", "p.transaction = l.transactionid",
       "l.virtualtransaction = '-1/' || p.transaction::text", "a prepared transaction has no name"}}},
    {"an_ack_can_be_prepared", ack_in_a_prepared_transaction, {{0}}},
};

const struct trap_group PREPARED_TRAPS = TRAP_GROUP(TRAPS);
