/* Subscriptions while transactions are open: late commits, roll-backs, claims inside a transaction; and in a
 * restored store. */
#include <stdio.h>
#include <string.h>

#include "conformance.h"
#include "pg.h"
#include "subscriptions.h"

/* Claims until nothing comes; the owner is f->owner. */
static size_t take_all_of(struct fixture *f, boxcar_box reader, struct taken *ret_taken, size_t max) {
    size_t total = 0, count = 1;
    while (count > 0 && total < max) {
        boxcar_claimer claimer = BOXCAR_CLAIMER_INIT;
        boxcar_message_list *list = NULL;
        claimer.box = reader;
        claimer.owner = f->owner;
        claimer.batch_size = (int)(max - total);
        ASSERT_OK(f, boxcar_claim(f->store, &claimer, &list, &f->err));
        count = list->count;
        for (size_t i = 0; i < count; i++)
            ret_taken[total++] =
                (struct taken){.work_id = list->items[i]->work_id, .epoch = list->items[i]->epoch};
        boxcar_list_free(list);
    }
    return total;
}

#define ME "'018f0000-0000-7000-8000-00000000000a'"

/* BX-093 */
static void writer_that_was_open_at_the_start_is_not_missed(void **state) {
    struct fixture *f = *state;
    PGconn *writer = fixture_connect(f), *undone = fixture_connect(f);
    pg_exec(writer, "begin; select enqueue('t', 'late'); select enqueue('t', 'late', stream => 's')");
    pg_exec(undone, "begin; select enqueue('t', 'never')");
    enqueue(f, "t", "before");
    boxcar_box audit = subscribe(f, "audit", "t");
    boxcar_work_id after = enqueue(f, "t", "p").work_id;
    finish_as(f, audit, &after, 1);
    pg_exec(writer, "commit");
    pg_exec(undone, "rollback");
    struct taken taken[10];
    assert_int_equal(take_all_of(f, audit, taken, 10), 2);
    assert_true(taken[0].work_id.value < after.value && taken[1].work_id.value < after.value);
    assert_int_equal(audit_lost(f), 0);
    PQfinish(writer);
    PQfinish(undone);
}

/* BX-093 */
static void beginning_has_what_the_main_reader_took_early(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue(f, "t", "p").work_id, streamed = enqueue_streamed(f, "s", "p").work_id;
    boxcar_work_id cancelled = enqueue(f, "t", "p").work_id;
    PGconn *conn = fixture_connect(f);
    ASSERT_OK(f, boxcar_message_cancel(f->store, BOXCAR_OUTBOX, (boxcar_message_ref){.work_id = cancelled},
                                       &f->err));
    pg_exec(conn, "begin");
    assert_int_equal(pg_number(conn, "select count(*) from outbox_claim(" ME ", '30 s', 1)"), 1);
    pg_exec(conn, "commit");
    assert_true(fixture_sql_number(f, NULL, "select count(*) from message where lane = 2") > 0);
    boxcar_box audit = subscribe_from(f, "audit", "t", BOXCAR_START_BEGINNING);
    struct taken taken[10];
    assert_int_equal(take_all_of(f, audit, taken, 10), 3);
    assert_int_equal(taken[0].work_id.value + taken[1].work_id.value + taken[2].work_id.value,
                     id.value + streamed.value + cancelled.value);
    assert_int_equal(audit_lost(f), 0);
    PQfinish(conn);
}

/* BX-093: what an open claim takes out of the log would be missed. */
static void first_subscription_waits_for_claims_that_are_open(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    PGconn *conn = fixture_connect(f), *maker = fixture_connect(f), *watcher = fixture_connect(f);
    boxcar_box audit;
    pg_exec(conn, "begin");
    assert_int_equal(pg_number(conn, "select work_id from outbox_claim(" ME ", '30 s', 1)"), id.value);
    assert_true(PQsendQuery(maker, "select subscription_add('audit', '{t}', start_at => 'beginning')"));
    pg_await_blocked(watcher, maker);
    pg_exec(conn, "commit");
    PGresult *made = PQgetResult(maker);
    assert_int_equal(PQresultStatus(made), PGRES_TUPLES_OK);
    PQclear(made);
    ASSERT_OK(f, boxcar_subscription_find(f->store, BOXCAR_STR("audit"), &audit, &f->err));
    finish_as(f, audit, &id, 1);
    assert_int_equal(audit_lost(f), 0);
    PQfinish(conn);
    PQfinish(maker);
    PQfinish(watcher);
}

/* BX-030, BX-091 */
static void claim_of_one_reader_inside_a_transaction_leaves_the_message_to_the_other(void **state) {
    struct fixture *f = *state;
    boxcar_box audit = subscribe(f, "audit", "t");
    boxcar_work_id ids[2] = {enqueue(f, "t", "p").work_id, enqueue(f, "t", "p").work_id};
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "begin");
    assert_int_equal(pg_number(conn, "select work_id from outbox_claim(" ME ", '30 s', 1)"), ids[0].value);
    pg_exec(conn, "commit");
    struct taken taken[10];
    assert_int_equal(take_all_of(f, audit, taken, 10), 2);
    take(f, f->owner, ids[1]);
    assert_nothing_claimable(f);
    assert_int_equal(audit_lost(f), 0);
    PQfinish(conn);
}

/* BX-030 */
static void claim_of_a_subscription_inside_a_transaction_may_be_undone(void **state) {
    struct fixture *f = *state;
    boxcar_box audit = subscribe(f, "audit", "t");
    boxcar_work_id ids[3];
    enqueue_many(f, "t", 3, ids);
    PGconn *conn = fixture_connect(f);
    struct taken taken[10];
    for (int round = 0; round < 2; round++) { /* from the log, and from the pool */
        pg_exec(conn, "begin");
        assert_int_equal(
            pg_number(conn, "select count(*) from outbox_claim(" ME ", '30 s', 1, subscription => 'audit')"),
            1);
        assert_int_equal(take_all_of(f, audit, taken, 10), 2 - 2 * round);
        pg_exec(conn, "rollback");
        if (round == 0) {
            assert_true(settle_as(f, audit, BOXCAR_ACK, taken[0]));
            assert_true(settle_as(f, audit, BOXCAR_ACK, taken[1]));
        }
    }
    take_one_as(f, audit, ids[0]);
    assert_int_equal(audit_lost(f), 0);
    PQfinish(conn);
}

/* BX-030 */
static void claim_of_a_subscription_inside_a_transaction_is_kept_by_its_commit(void **state) {
    struct fixture *f = *state;
    boxcar_box audit = subscribe(f, "audit", "t");
    boxcar_work_id first = enqueue(f, "t", "p").work_id, streamed = enqueue_streamed(f, "s", "p").work_id;
    boxcar_work_id behind = enqueue_streamed(f, "s", "p").work_id;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "begin");
    assert_int_equal(
        pg_number(conn, "select count(*) from outbox_claim(" ME ", '30 s', 1, subscription => 'audit')"), 1);
    pg_exec(conn, "commit");
    struct taken taken[10];
    assert_int_equal(take_all_of(f, audit, taken, 10), 2);
    assert_int_equal(taken[0].work_id.value + taken[1].work_id.value, streamed.value + behind.value);
    assert_status_as(f, audit, first, BOXCAR_IN_PROGRESS);
    assert_int_equal(pg_number(conn,
                               "select count(*) from outbox_ack(" ME ", '{%lld}', subscription => 'audit')",
                               (long long)first.value),
                     1);
    assert_int_equal(fixture_sql_number(f, NULL, "select count(*) from reader_skip"), 1);
    boxcar_work_id next = enqueue(f, "t", "p").work_id;
    finish_as(f, audit, &next, 1); /* now the frontier has passed it */
    maintain_readers(f);
    assert_int_equal(fixture_sql_number(f, NULL, "select count(*) from reader_skip"), 0);
    assert_int_equal(audit_lost(f), 0);
    PQfinish(conn);
}

/* BX-093 */
static void subscription_goes_on_in_a_restored_store(void **state) {
    struct fixture *f = *state;
    boxcar_box audit = subscribe(f, "audit", "t");
    boxcar_work_id done = enqueue(f, "t", "p").work_id, unwanted = enqueue(f, "u", "p").work_id;
    finish_as(f, audit, &done, 1);
    boxcar_work_id left = enqueue(f, "t", "p").work_id, streamed = enqueue_streamed(f, "s", "p").work_id;
    fixture_sql(f, NULL, "update store set message_oid = 1; select adopt()");
    boxcar_work_id later = enqueue(f, "t", "p").work_id;
    struct taken taken[10];
    assert_int_equal(take_all_of(f, audit, taken, 10), 3);
    assert_int_equal(taken[0].work_id.value + taken[1].work_id.value + taken[2].work_id.value,
                     left.value + streamed.value + later.value);
    assert_unknown_to(f, audit, unwanted);
    assert_int_equal(take_all(f, f->owner, 60000, taken, 10), 5);
    assert_int_equal(rewind_all(f, "audit"), 4);
    assert_int_equal(take_all_of(f, audit, taken, 10), 4);
    assert_int_equal(audit_lost(f), 0);
}

/* BX-093: a purge of dead letters forgets what other readers have done with the message, as a rewind does. */
static void purge_of_dead_letters_during_a_rewind_leaves_the_message_to_upkeep(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    boxcar_box audit = subscribe(f, "audit", "t");
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    set_setting(f, "retention_done", "0");
    finish_as(f, audit, &id, 1);
    assert_true(settle_as(f, BOXCAR_OUTBOX, BOXCAR_FAIL, take_one_as(f, BOXCAR_OUTBOX, id)));
    pg_exec(conn, "begin");
    assert_int_equal(pg_number(conn, "select subscription_rewind('audit', 'beginning')"), 1);
    assert_int_equal(fixture_sql_number(f, NULL, "select dead_purge(array(select work_id from dead))"), 1);
    pg_exec(conn, "commit");
    maintain_readers(f);
    finish_as(f, audit, &id, 1);
    wait_out(f, 2);
    maintain_readers(f);
    assert_int_equal(fixture_sql_number(f, NULL, "select count(*) from message"), 0);
    PQfinish(conn);
}

/* BX-090: making a subscription holds up nobody but those who change subscriptions, however late it is
 * committed. Upkeep neither, which has to forget another one. */
static void a_subscription_that_is_not_committed_yet_holds_up_no_work(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f), *upkeep = fixture_connect(f);
    boxcar_box audit = subscribe(f, "audit", "t");
    pg_exec(conn, "select subscription_add('former', '{t}'); select subscription_remove('former')");
    pg_exec(conn, "begin; select subscription_add('late', '{t}', start_at => 'beginning')");
    pg_exec(upkeep, "set statement_timeout = '20 s'");
    assert_int_equal(pg_number(upkeep, "select count(*) from _maintain(0::smallint)"), 1);
    PQfinish(upkeep);
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    finish_as(f, BOXCAR_OUTBOX, &id, 1);
    finish_as(f, audit, &id, 1);
    pg_exec(conn, "commit; begin; select subscription_add('taker', '{c}', \"only\" => true)");
    boxcar_work_id next = enqueue(f, "t", "p").work_id;
    finish_as(f, audit, &next, 1);
    pg_exec(conn, "rollback");
    finish_as(f, BOXCAR_OUTBOX, &next, 1);
    assert_int_equal(audit_lost(f), 0);
    PQfinish(conn);
}

/* BX-096: in small steps, and all of it. */
static void all_that_a_removed_subscription_knew_is_removed(void **state) {
    struct fixture *f = *state;
    char text[160];
    int steps = 0;
    boxcar_box audit = subscribe(f, "audit", "t");
    snprintf(text, sizeof(text), "insert into reader_skip select %d, i from generate_series(1, 7) i", audit);
    fixture_sql(f, NULL, text);
    ASSERT_OK(f, boxcar_subscription_remove(f->store, BOXCAR_STR("audit"), false, &f->err));
    fixture_sql(f, NULL, "update reader set removed_at = removed_at - interval '1 hour'");
    while (fixture_sql_number(f, NULL, "select count(*) from reader where removed_at is not null") > 0) {
        fixture_sql(f, NULL, "select _forget_readers(3)");
        assert_true(++steps < 10);
    }
    assert_int_equal(steps, 4);
    assert_int_equal(fixture_sql_number(f, NULL, "select count(*) from reader_skip"), 0);
}

/* BX-090 */
static void numbers_of_subscriptions_are_used_up_once(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "select setval('reader_number', %d)", BOXCAR_READER_MAX - 1);
    assert_int_equal(pg_number(conn, "select subscription_add('last', '{t}')"), BOXCAR_READER_MAX);
    pg_fails(conn, "BX003", "select subscription_add('more', '{t}')");
    pg_fails(conn, "BX003", "select fanout_add('more', '{t}', '{u}')");
    PQfinish(conn);
}

/* BX-091 */
static void views_show_deliveries_and_figures(void **state) {
    struct fixture *f = *state;
    boxcar_box audit = subscribe(f, "audit", "t");
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    assert_true(settle_as(f, audit, BOXCAR_FAIL, take_one_as(f, audit, id)));
    assert_int_equal(
        fixture_sql_number(
            f, NULL, "select count(*) from delivery where subscription = 'audit' and status = 'failed'"),
        1);
    assert_int_equal(fixture_sql_number(f, NULL, "select count(*) from outbox where status = 'ready'"), 1);
    assert_int_equal(
        fixture_sql_number(f, NULL, "select count(*) from dead_letter where subscription = 'audit'"), 1);
    assert_int_equal(fixture_sql_number(f, NULL, "select failed from subscription where name = 'audit'"), 1);
    assert_int_equal(fixture_sql_number(f, NULL,
                                        "select dead_replay(array[(select min(work_id) from message)], "
                                        "subscription => 'audit')"),
                     1);
    finish_as(f, audit, &id, 1);
}

static const struct CMUnitTest TESTS[] = {
    TEST(writer_that_was_open_at_the_start_is_not_missed),
    TEST(beginning_has_what_the_main_reader_took_early),
    TEST(first_subscription_waits_for_claims_that_are_open),
    TEST(claim_of_one_reader_inside_a_transaction_leaves_the_message_to_the_other),
    TEST(claim_of_a_subscription_inside_a_transaction_may_be_undone),
    TEST(claim_of_a_subscription_inside_a_transaction_is_kept_by_its_commit),
    TEST(subscription_goes_on_in_a_restored_store),
    TEST(purge_of_dead_letters_during_a_rewind_leaves_the_message_to_upkeep),
    TEST(a_subscription_that_is_not_committed_yet_holds_up_no_work),
    TEST(all_that_a_removed_subscription_knew_is_removed),
    TEST(numbers_of_subscriptions_are_used_up_once),
    TEST(views_show_deliveries_and_figures),
};

const struct suite SUBSCRIPTION_POSTGRES_SUITE = SUITE(TESTS);
