/* Policies as SQL callers make and change them: in transactions of their own, with bad input, and with other
 * roles. */
#include <stdlib.h>
#include <string.h>

#include "conformance.h"
#include "pg.h"
#include "subscriptions.h"

#define COPIES                                                                                               \
    "select fanout_add('copies', '{orders.*}', '{\"audit.{topic}\",store:search/inbox,tenant:customer}')"
#define ME "'018f0000-0000-7000-8000-00000000000a'"

static PGconn *with_policy(struct fixture *f) {
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, COPIES);
    return conn;
}

/* BX-097 */
static void policy_has_a_subscription_for_each_destination(void **state) {
    struct fixture *f = *state;
    PGconn *conn = with_policy(f);
    assert_int_equal(pg_number(conn, "select count(*) from fanout where name = 'copies' and patterns = "
                                     "'{orders.*}' and subscription = 'copies/' || destination and status = "
                                     "'running' and then_topic is null and box = 'outbox' and not \"only\""),
                     3);
    assert_int_equal(pg_number(conn, "select count(*) from fanout where destination in ('audit.{topic}', "
                                     "'store:search/inbox', 'tenant:customer')"),
                     3);
    pg_exec(conn, "select enqueue('orders.1', 'p'), enqueue('mail', 'p')");
    assert_int_equal(pg_number(conn, "select sum(ready) from fanout"), 3);
    assert_int_equal(pg_number(conn, "select count(*) from outbox_claim(" ME ", '30 s', 10, subscription => "
                                     "'copies/tenant:customer')"),
                     1);
    assert_int_equal(pg_number(conn, "select sum(ready) from fanout"), 2);
    PQfinish(conn);
}

/* BX-099 */
static void policy_that_gathers_has_one_subscription(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "select fanout_add('split', '{big}', '{part.1,part.2}', then_topic => 'whole', else_topic "
                  "=> 'torn', \"only\" => true)");
    assert_int_equal(pg_number(conn, "select count(*) from fanout where subscription = 'split/all' and "
                                     "then_topic = 'whole' and else_topic = 'torn' and \"only\""),
                     2);
    assert_int_equal(pg_number(conn, "select count(*) from subscription where name = 'split/all'"), 1);
    pg_exec(conn, "select enqueue('big', 'p')");
    assert_int_equal(pg_number(conn, "select count(*) from outbox_claim(" ME ", '30 s', 10)"), 0);
    PQfinish(conn);
}

/* BX-097: in the caller's transaction. */
static void policy_is_made_and_removed_with_the_transaction(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f), *other = fixture_connect(f);
    pg_exec(conn, "begin");
    pg_exec(conn, COPIES);
    assert_int_equal(pg_number(other, "select count(*) from fanout"), 0);
    pg_exec(conn, "rollback");
    assert_int_equal(pg_number(conn, "select count(*) from subscription"), 0);
    pg_exec(conn, "begin");
    pg_exec(conn, COPIES);
    pg_exec(conn, "select enqueue('orders.1', 'before the commit')");
    pg_exec(conn, "commit");
    assert_int_equal(pg_number(conn, "select sum(ready) from fanout"), 3);
    pg_exec(conn, "begin; select fanout_remove('copies')");
    pg_exec(conn, COPIES); /* its name is free at once */
    pg_exec(conn, "rollback");
    assert_int_equal(pg_number(other, "select sum(ready) from fanout"), 3);
    pg_exec(conn, "select fanout_remove('copies')");
    assert_int_equal(pg_number(conn, "select count(*) from subscription"), 0);
    PQfinish(conn);
    PQfinish(other);
}

/* BX-097 */
static void names_of_policies_and_subscriptions_are_one_name_space(void **state) {
    struct fixture *f = *state;
    PGconn *conn = with_policy(f);
    pg_exec(conn, "select subscription_add('plain', '{t}')");
    pg_fails(conn, "BX003", "select subscription_add('copies', '{t}')");
    pg_fails(conn, "BX003", COPIES);
    pg_fails(conn, "BX003", "select fanout_add('plain', '{t}', '{u}')");
    pg_exec(conn, "select subscription_add('copie', '{t}'), subscription_add('copies2', '{t}')");
    pg_exec(conn, "select fanout_add('nested', '{t}', '{a/b,a}')"); /* names that begin with each other */
    PQfinish(conn);
}

/* BX-097: two at once. */
static void name_is_taken_once_by_two_that_come_together(void **state) {
    struct fixture *f = *state;
    PGconn *first = fixture_connect(f), *second = fixture_connect(f), *watcher = fixture_connect(f);
    pg_exec(first, "begin");
    pg_exec(first, COPIES);
    assert_true(PQsendQuery(second, "select subscription_add('copies', '{t}')"));
    pg_await_blocked(watcher, second);
    pg_exec(first, "commit");
    PGresult *result = PQgetResult(second);
    assert_string_equal(PQresultErrorField(result, PG_DIAG_SQLSTATE), "BX003");
    PQclear(result);
    PQfinish(first);
    PQfinish(second);
    PQfinish(watcher);
}

/* BX-097: the circle closes only when both are there. */
static void circle_is_seen_by_the_second_of_two_that_come_together(void **state) {
    struct fixture *f = *state;
    PGconn *first = fixture_connect(f), *second = fixture_connect(f), *watcher = fixture_connect(f);
    pg_exec(first, "begin; select fanout_add('there', '{a}', '{b}')");
    assert_true(PQsendQuery(second, "select fanout_add('back', '{b}', '{a}')"));
    pg_await_blocked(watcher, second);
    pg_exec(first, "commit");
    PGresult *result = PQgetResult(second);
    assert_string_equal(PQresultErrorField(result, PG_DIAG_SQLSTATE), "BX003");
    assert_non_null(strstr(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY),
                           "a copy would come back: back -> there -> back"));
    PQclear(result);
    PQfinish(first);
    PQfinish(second);
    PQfinish(watcher);
}

/* BX-098 */
static void circles_are_refused(void **state) {
    static const char *const REFUSED[] = {
        "'{a}', '{a}'",
        "'{*}', '{anything}'",
        "'{a*}', '{\"{topic}.copy\"}'",
        "'{x.*}', '{\"x.{topic}\"}'",
        "'{a,b.*}', '{other,b.c}'",
        "'{a}', '{b}', then_topic => 'a'",
        "'{a}', '{b}', then_topic => 'c', else_topic => 'a'",
        "'{y}', '{in.1}'",                  /* through one more */
        "'{out.in.*}', '{\"in.{topic}\"}'", /* with topics that begin alike */
    };
    static const char *const ALLOWED[] = {
        "'{a}', '{b}'",
        "'{a*}', '{\"x.{topic}\"}'",
        "'{a}', '{\"{topic}a\"}'",
        "'{a}', '{store:other,store:other/a,tenant:h}'", /* cannot be seen */
        "'{a}', '{a}', box => 'inbox'",
        "'{y}', '{in}'",
    };
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn,
            "select fanout_add('one', '{in.*}', '{\"out.{topic}\",z}'), fanout_add('two', '{z}', '{y}')");
    for (size_t i = 0; i < sizeof(REFUSED) / sizeof(REFUSED[0]); i++)
        pg_fails(conn, "BX003", "select fanout_add('new', %s)", REFUSED[i]);
    for (size_t i = 0; i < sizeof(ALLOWED) / sizeof(ALLOWED[0]); i++)
        pg_exec(conn, "begin; select fanout_add('new', %s); rollback", ALLOWED[i]);
    PQfinish(conn);
}

/* BX-097 */
static void bad_input_is_refused(void **state) {
    static const char *const BAD[] = {
        "null, '{t}', '{u}'",
        "'', '{t}', '{u}'",
        "'a/b', '{t}', '{u}'",
        "'outbox', '{t}', '{u}'",
        "e'a\\tb', '{t}', '{u}'",
        "repeat('x', 256), '{t}', '{u}'",
        "'n', null, '{u}'",
        "'n', '{}', '{u}'",
        "'n', '{a*b}', '{u}'",
        "'n', '{t}', null",
        "'n', '{t}', '{}'",
        "'n', '{t}', '{{u},{v}}'",
        "'n', '{t}', '{u,u}'",
        "'n', '{t}', array[null]",
        "'n', '{t}', '{u,null}'",
        "'n', '{t}', '{\"\"}'",
        "'n', '{t}', '{u*}'",
        "'n', '{t}', '{\"u.{name}\"}'",
        "'n', '{t}', '{\"{u{topic}}\"}'",
        "'n', '{t}', '{store:}'",
        "'n', '{t}', '{store:/u}'",
        "'n', '{t}', '{store:s/}'",
        "'n', '{t}', '{store:s/inbox/}'",
        "'n', '{t}', '{store:s/inbox/u*}'",
        "'n', '{t}', '{tenant:}'",
        "'n', '{t}', array[e'a\\nb']",
        "'n', '{t}', array[repeat('x', 254)]",
        "'n', '{t}', array(select 'u' || i from generate_series(1, 101) i)",
        "'n', '{t}', '{store:s}', then_topic => 'v'",
        "'n', '{t}', '{u,tenant:h}', then_topic => 'v'",
        "'n', '{t}', '{u}', else_topic => 'v'",
        "'n', '{t}', '{u}', then_topic => ''",
        "'n', '{t}', '{u}', then_topic => repeat('x', 256)",
        "'n', '{t}', '{u}', then_topic => 'v', else_topic => ''",
        "'n', '{t}', '{u}', box => 'letterbox'",
        "'n', '{t}', '{u}', start_at => 'noon'",
        "'n', '{t}', '{u}', start_at => null",
    };
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
        pg_fails(conn, "BX001", "select fanout_add(%s)", BAD[i]);
    pg_exec(conn, "select fanout_add('n', '{t}', array[repeat('x', 253)])");
    pg_exec(conn, "select fanout_add('m', '{t}', array(select 'u' || i from generate_series(1, 100) i))");
    static const char *const ALL[] = {"pause(", "resume(", "remove("};
    for (size_t i = 0; i < sizeof(ALL) / sizeof(ALL[0]); i++) {
        pg_fails(conn, "BX001", "select fanout_%snull)", ALL[i]);
        pg_fails(conn, "BX002", "select fanout_%s'nobody')", ALL[i]);
        pg_fails(conn, "BX002", "select fanout_%s'm/u1')", ALL[i]); /* a subscription of one is no policy */
    }
    pg_fails(conn, "BX001", "select fanout_rewind(null, 'beginning')");
    pg_fails(conn, "BX002", "select fanout_rewind('m/u1', 'beginning')");
    pg_fails(conn, "BX001", "select fanout_rewind('n', 'somewhere')");
    pg_exec(conn, "begin isolation level serializable");
    pg_fails(conn, "BX004", "select fanout_add('o', '{t}', '{u}')");
    PQfinish(conn);
}

/* BX-097 */
static void pause_rewind_and_remove_are_for_all_destinations(void **state) {
    struct fixture *f = *state;
    PGconn *conn = with_policy(f);
    pg_exec(conn, "select enqueue('orders.1', 'p')");
    pg_exec(conn, "select outbox_ack(" ME ", array(select work_id from outbox_claim(" ME
                  ", '30 s', 9, subscription => "
                  "'copies/tenant:customer')), subscription => 'copies/tenant:customer')");
    assert_int_equal(pg_number(conn, "select sum(ready) from fanout"), 2);
    pg_exec(conn, "select fanout_pause('copies'), fanout_pause('copies')");
    assert_int_equal(pg_number(conn, "select count(*) from fanout where status = 'paused'"), 3);
    pg_exec(conn, "select fanout_resume('copies')");
    assert_int_equal(pg_number(conn, "select count(*) from fanout where status = 'running'"), 3);
    assert_int_equal(pg_number(conn, "select fanout_rewind('copies', 'beginning')"), 3);
    assert_int_equal(pg_number(conn, "select count(*) from outbox_claim(" ME ", '1 hour', 9, subscription => "
                                     "'copies/tenant:customer')"),
                     1);
    pg_fails(conn, "BX003", "select fanout_remove('copies')");
    assert_int_equal(pg_number(conn, "select count(*) from fanout"), 3); /* all or none */
    pg_exec(conn, "select fanout_remove('copies', true)");
    assert_int_equal(pg_number(conn, "select count(*) from fanout"), 0);
    assert_int_equal(pg_number(conn, "select count(*) from outbox where topic = 'orders.1'"), 1);
    PQfinish(conn);
}

/* BX-097 */
static void one_destination_is_changed_as_a_subscription_but_not_removed(void **state) {
    struct fixture *f = *state;
    PGconn *conn = with_policy(f);
    pg_exec(conn, "select subscription_pause('copies/tenant:customer')");
    assert_int_equal(pg_number(conn, "select count(*) from fanout where status = 'paused'"), 1);
    pg_exec(conn, "select subscription_resume('copies/tenant:customer'), "
                  "subscription_rewind('copies/tenant:customer', 'beginning'), "
                  "subscription_change('copies/tenant:customer', max_lag => '1 hour')");
    pg_fails(conn, "BX003", "select subscription_change('copies/tenant:customer', '{t}')");
    pg_fails(conn, "BX003", "select subscription_remove('copies/tenant:customer')");
    pg_fails(conn, "BX003", "select subscription_remove('copies/tenant:customer', true)");
    assert_int_equal(pg_number(conn, "select count(*) from fanout where patterns = '{orders.*}'"), 3);
    PQfinish(conn);
}

/* BX-105, OBX-124 */
static void roles_look_but_only_admins_make_policies(void **state) {
    static const char *const ACCESSES[] = {"producer", "worker", "viewer"};
    struct fixture *f = *state;
    PGconn *conn = with_policy(f);
    pg_exec(conn, "create role %s_low", f->schema);
    for (size_t i = 0; i < sizeof(ACCESSES) / sizeof(ACCESSES[0]); i++) {
        pg_exec(conn, "select grant_access('%s_low', '%s')", f->schema, ACCESSES[i]);
        pg_exec(conn, "set role %s_low", f->schema);
        pg_fails(conn, "42501", "select fanout_add('x', '{t}', '{u}')");
        pg_fails(conn, "42501", "select fanout_remove('copies')");
        pg_fails(conn, "42501", "select fanout_pause('copies')");
        pg_fails(conn, "42501", "update reader set destinations = '{evil}'");
        if (i == 1) /* workers read what to forward */
            assert_int_equal(pg_number(conn, "select count(*) from _subscription_list(null, true, true) "
                                             "where destinations is not null"),
                             3);
        if (i == 2)
            assert_int_equal(pg_number(conn, "select count(*) from fanout where status = 'running'"), 3);
        pg_exec(conn, "reset role; drop owned by %s_low", f->schema);
    }
    pg_exec(conn, "select grant_access('%s_low', 'admin'); set role %s_low", f->schema, f->schema);
    pg_exec(conn, "select fanout_add('x', '{t}', '{u}'), fanout_rewind('x', 'beginning')");
    pg_exec(conn, "select fanout_remove('x'); reset role");
    pg_exec(conn, "drop owned by %s_low; drop role %s_low", f->schema, f->schema);
    PQfinish(conn);
}

/* BX-097: what changes policies waits for a transaction that does so too, at most 10 seconds. */
static void change_waits_a_while_for_another_that_is_not_committed(void **state) {
    static const char *const CHANGES[] = {
        "select fanout_pause('copies')",
        "select fanout_resume('copies')",
        "select fanout_rewind('copies', 'beginning')",
        "select fanout_remove('copies')",
        "select subscription_remove('plain')",
    };
    enum { COUNT = sizeof(CHANGES) / sizeof(CHANGES[0]) };
    struct fixture *f = *state;
    PGconn *conn = with_policy(f), *waiting[COUNT];
    pg_exec(conn, "select subscription_add('plain', '{t}')");
    pg_exec(conn, "begin; select fanout_add('other', '{t}', '{u}')");
    for (size_t i = 0; i < COUNT; i++) { /* all at the same time */
        waiting[i] = fixture_connect(f);
        pg_exec(waiting[i], "set statement_timeout = '60 s'");
        assert_true(PQsendQuery(waiting[i], CHANGES[i]));
    }
    for (size_t i = 0; i < COUNT; i++) {
        PGresult *result = PQgetResult(waiting[i]);
        assert_int_equal(PQresultStatus(result), PGRES_FATAL_ERROR);
        assert_string_equal(PQresultErrorField(result, PG_DIAG_SQLSTATE), "55P03");
        PQclear(result);
        PQfinish(waiting[i]);
    }
    pg_exec(conn, "commit");
    pg_exec(conn, "select fanout_remove('copies')");
    PQfinish(conn);
}

/* BX-095: a removal that waits for claims of a destination does not stop those of the main reader meanwhile.
 */
static void removal_that_waits_for_a_destination_leaves_the_main_reader_alone(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f), *claimer = fixture_connect(f), *remover = fixture_connect(f);
    pg_exec(conn, "select fanout_add('all', '{orders}', '{a,b}', \"only\" => true)");
    pg_exec(claimer, "begin; select outbox_claim(" ME ", '30 s', 1, subscription => 'all/b')");
    assert_true(PQsendQuery(remover, "select fanout_remove('all', true)"));
    pg_await_blocked(conn, remover);
    assert_int_equal(
        pg_number(conn, "select count(*) from pg_locks where pid = %d and relation = 'outbox_turn'::regclass",
                  PQbackendPID(remover)),
        0);
    pg_exec(claimer, "commit");
    PGresult *result = PQgetResult(remover);
    assert_int_equal(PQresultStatus(result), PGRES_TUPLES_OK);
    PQclear(result);
    pg_exec(conn, "select enqueue('orders', 'p')"); /* the main reader gets it now */
    assert_int_equal(pg_number(conn, "select count(*) from outbox_claim(" ME ", '30 s', 1)"), 1);
    PQfinish(conn);
    PQfinish(claimer);
    PQfinish(remover);
}

/* BX-105: what a worker asks again and again costs little, and knows no figures. */
static void brief_list_has_no_figures(void **state) {
    struct fixture *f = *state;
    PGconn *conn = with_policy(f);
    pg_exec(conn, "select subscription_add('plain', '{orders.*}')");
    pg_exec(conn, "select enqueue('orders.1', 'p')");
    assert_int_equal(pg_number(conn, "select sum(ready) from _subscription_list(null, true)"), 3);
    assert_int_equal(pg_number(conn, "select sum(ready + in_progress + failed + held_messages) from "
                                     "_subscription_list(null, true, true) "
                                     "where oldest_unread_at is null"),
                     0);
    assert_int_equal(pg_number(conn, "select count(*) from _subscription_list('copies', true, true)"), 3);
    assert_int_equal(pg_number(conn, "select count(*) from _subscription_list('plain', true, true)"), 0);
    assert_int_equal(pg_number(conn, "select count(*) from _subscription_list(null, false, true)"), 4);
    assert_int_equal(pg_number(conn, "select count(*) from _subscription_list('copies/tenant:customer')"), 1);
    /* The program of version 15 */
    assert_int_equal(pg_number(conn, "select sum(ready) from _subscriptions(null)"), 4);
    PQfinish(conn);
}

static const struct CMUnitTest TESTS[] = {
    TEST(policy_has_a_subscription_for_each_destination),
    TEST(policy_that_gathers_has_one_subscription),
    TEST(policy_is_made_and_removed_with_the_transaction),
    TEST(names_of_policies_and_subscriptions_are_one_name_space),
    TEST(name_is_taken_once_by_two_that_come_together),
    TEST(circle_is_seen_by_the_second_of_two_that_come_together),
    TEST(circles_are_refused),
    TEST(bad_input_is_refused),
    TEST(pause_rewind_and_remove_are_for_all_destinations),
    TEST(one_destination_is_changed_as_a_subscription_but_not_removed),
    TEST(roles_look_but_only_admins_make_policies),
    TEST(change_waits_a_while_for_another_that_is_not_committed),
    TEST(removal_that_waits_for_a_destination_leaves_the_main_reader_alone),
    TEST(brief_list_has_no_figures),
};

const struct suite FANOUT_POSTGRES_SUITE = SUITE(TESTS);
