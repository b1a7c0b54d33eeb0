/* BX-061: an instance lives as long as it talks, about whichever box; one that is silent in every way is
 * removed. */
#include <stdio.h>
#include <string.h>

#include "borrow.h"
#include "boxes.h"
#include "coordinators.h"
#include "pg.h"

enum { LONG_LEASE_MS = 600000 };

static void register_in(struct fixture *f, boxcar_owner owner, boxcar_box box) {
    ASSERT_OK(f, say_alive(f->store, owner, box, "h", NULL, 0, &f->err));
}

/* As if everybody had been silent for this time. */
static void go_silent(struct fixture *f, int seconds) {
    char sqlite_text[120], postgres_text[240];
    snprintf(sqlite_text, sizeof(sqlite_text), "update boxcar_instance_row set seen_at = seen_at - %d000000",
             seconds);
    snprintf(postgres_text, sizeof(postgres_text),
             "update instance_row set seen_at = seen_at - interval '%d s'; "
             "update instance_sign set seen_at = seen_at - interval '%d s'",
             seconds, seconds);
    fixture_sql(f, sqlite_text, postgres_text);
}

static void maintain(struct fixture *f) {
    boxcar_maintenance done = BOXCAR_MAINTENANCE_INIT;
    ASSERT_OK(f, boxcar_maintenance_run(f->store, &done, &f->err));
}

static int64_t count_instances(struct fixture *f) {
    return fixture_sql_number(f, "select count(*) from boxcar_instance_row",
                              "select count(*) from instance_row");
}

static boxcar_result *process(struct fixture *f, const boxcar_request *batch) {
    boxcar_result *result = NULL;
    ASSERT_OK(f, boxcar_process(f->store, batch, &result, &f->err));
    return result;
}

static boxcar_request batch_of(boxcar_owner owner) {
    boxcar_request batch = BOXCAR_REQUEST_INIT;
    batch.owner = owner;
    return batch;
}

/* ---- what is a sign of life ---- */

static void say_by_claim(struct fixture *f, boxcar_owner owner, struct taken held) {
    (void)held;
    boxcar_list_free(claim(f, owner, 1));
}

static void say_by_inbox_claim(struct fixture *f, boxcar_owner owner, struct taken held) {
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    boxcar_message_list *list = NULL;
    (void)held;
    options.box = BOXCAR_INBOX;
    options.owner = owner;
    ASSERT_OK(f, boxcar_claim(f->store, &options, &list, &f->err));
    boxcar_list_free(list);
}

static void say_by_ack(struct fixture *f, boxcar_owner owner, struct taken held) {
    held.work_id.value += 1000; /* nothing of its own */
    assert_false(ack(f, owner, held));
}

static void say_by_abandon(struct fixture *f, boxcar_owner owner, struct taken held) {
    held.work_id.value += 1000;
    assert_false(abandon(f, owner, held, 0));
}

static void say_by_defer(struct fixture *f, boxcar_owner owner, struct taken held) {
    held.work_id.value += 1000;
    assert_false(defer(f, owner, held, 0));
}

static void say_by_fail(struct fixture *f, boxcar_owner owner, struct taken held) {
    held.work_id.value += 1000;
    assert_false(bury(f, owner, held, "no"));
}

static void say_by_renew(struct fixture *f, boxcar_owner owner, struct taken held) {
    assert_true(renew(f, owner, held, LONG_LEASE_MS));
}

static void say_by_stages(struct fixture *f, boxcar_owner owner, struct taken held) {
    boxcar_settlement record = settlement_of(held);
    boxcar_request_part part = BOXCAR_REQUEST_PART_INIT;
    boxcar_request batch = batch_of(owner);
    record.stages = 8;
    part.settle[BOXCAR_RECORD] = (boxcar_settlement_list){&record, 1};
    batch.parts[BOXCAR_OUTBOX] = &part;
    boxcar_result_free(process(f, &batch));
}

static void say_by_heartbeat_elsewhere(struct fixture *f, boxcar_owner owner, struct taken held) {
    (void)held;
    register_in(f, owner, BOXCAR_INBOX);
}

static void say_by_heartbeat_alone(struct fixture *f, boxcar_owner owner, struct taken held) {
    boxcar_heartbeat heartbeat = BOXCAR_HEARTBEAT_INIT;
    boxcar_request batch = batch_of(owner);
    (void)held;
    batch.heartbeat = &heartbeat;
    boxcar_result_free(process(f, &batch));
}

/* A ten-minute lease of an instance that registered for one box, long ago: each way of speaking keeps it. */
static void every_call_that_names_the_owner_keeps_its_leases(void **state) {
    static void (*const ways[])(struct fixture *, boxcar_owner, struct taken) = {
        say_by_claim,          say_by_inbox_claim, say_by_ack,
        say_by_abandon,        say_by_defer,       say_by_fail,
        say_by_renew,          say_by_stages,      say_by_heartbeat_elsewhere,
        say_by_heartbeat_alone};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        boxcar_owner owner = {boxcar_uuid_new()};
        boxcar_work_id id = enqueue(f, "t", "p").work_id;
        struct taken held = take_for(f, owner, id, LONG_LEASE_MS);
        register_in(f, owner, BOXCAR_OUTBOX);
        go_silent(f, 61);
        boxcar_store_close(f->store); /* a session of its own, which has sent nothing yet */
        f->store = fixture_open(f);
        if (f->kind == FIXTURE_PGBOUNCER)
            wait_out(f, 600); /* the session may be the same: what it noted last is over then */
        ways[i](f, owner, held);
        maintain(f);
        if (!ack(f, owner, held))
            fail_msg("way %zu of speaking is no sign of life", i);
    }
}

static void registration_in_one_box_covers_the_leases_of_both(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[BOXES];
    struct taken held[BOXES];
    for (int box = 0; box < BOXES; box++) {
        ids[box] = put_into(f, (boxcar_box)box, "t", "p", NULL);
        held[box] = take_from(f, (boxcar_box)box, f->owner, ids[box]);
        assert_true(held[box].work_id.value == ids[box].value);
    }
    register_in(f, f->owner, BOXCAR_INBOX);
    maintain(f);
    for (int box = 0; box < BOXES; box++)
        assert_int_equal(status_in(f, (boxcar_box)box, ids[box]), BOXCAR_IN_PROGRESS);
    go_silent(f, 61);
    maintain(f);
    assert_int_equal(count_instances(f), 0);
    for (int box = 0; box < BOXES; box++)
        assert_int_equal(status_in(f, (boxcar_box)box, ids[box]), BOXCAR_READY);
}

/* Owners that never registered are judged by their leases alone. */
static void unregistered_owner_keeps_its_leases(void **state) {
    struct fixture *f = *state;
    struct taken held = take_for(f, f->owner, enqueue(f, "t", "p").work_id, LONG_LEASE_MS);
    boxcar_request batch = batch_of(f->other);
    batch.stale_threshold_ms = 1000;
    boxcar_result_free(process(f, &batch));
    maintain(f);
    assert_true(ack(f, f->owner, held));
}

/* ---- heartbeats without a box ---- */

static void heartbeat_alone_registers_in_both_boxes(void **state) {
    struct fixture *f = *state;
    say_by_heartbeat_alone(f, f->owner, (struct taken){{0}, {0}, 0, 0});
    assert_int_equal(count_instances(f), 2);
    assert_int_equal(fixture_sql_number(f, "select count(*) from boxcar_instance where topics = '[]'",
                                        "select count(*) from instance where topics = '{}'"),
                     2);
}

/* Only a claim says which topics an instance handles. */
static void claim_without_topics_is_for_every_topic(void **state) {
    struct fixture *f = *state;
    boxcar_heartbeat heartbeat = BOXCAR_HEARTBEAT_INIT;
    boxcar_request_part part = BOXCAR_REQUEST_PART_INIT;
    boxcar_request batch = BOXCAR_REQUEST_INIT;
    batch.owner = f->owner;
    batch.heartbeat = &heartbeat;
    batch.parts[BOXCAR_OUTBOX] = &part;
    part.claim_size = 1;
    boxcar_result_free(process(f, &batch));
    part.claim_size = 0;
    boxcar_result_free(process(f, &batch));
    assert_int_equal(
        fixture_sql_number(f,
                           "select count(*) from boxcar_instance where topics = '[\"*\"]' and box = 'outbox'",
                           "select count(*) from instance where topics = '{*}' and box = 'outbox'"),
        1);
    assert_int_equal(count_instances(f), 1);
}

static void heartbeat_alone_keeps_what_is_registered(void **state) {
    struct fixture *f = *state;
    boxcar_str topic = BOXCAR_STR("mail.*");
    ASSERT_OK(f, say_alive(f->store, f->owner, BOXCAR_OUTBOX, "h", &topic, 1, &f->err));
    say_by_heartbeat_alone(f, f->owner, (struct taken){{0}, {0}, 0, 0});
    assert_int_equal(count_instances(f), 1);
    assert_int_equal(fixture_sql_number(f,
                                        "select count(*) from boxcar_instance where topics = '[\"mail.*\"]' "
                                        "and box = 'outbox' and concurrency = 1",
                                        "select count(*) from instance where topics = '{mail.*}' "
                                        "and box = 'outbox' and concurrency = 1"),
                     1);
}

/* ---- the threshold ---- */

static void setting_says_how_long_an_instance_may_be_silent(void **state) {
    struct fixture *f = *state;
    struct taken held = take_for(f, f->owner, enqueue(f, "t", "p").work_id, LONG_LEASE_MS);
    register_in(f, f->owner, BOXCAR_OUTBOX);
    set_setting(f, "instance_timeout", "2m");
    go_silent(f, 100);
    maintain(f);
    assert_int_equal(count_instances(f), 1);
    assert_int_equal(fixture_sql_number(f, "select count(*) from boxcar_instance where rank = 0",
                                        "select count(*) from instance where rank = 0"),
                     1);
    set_setting(f, "instance_timeout", "5s");
    assert_int_equal(fixture_sql_number(f, "select count(*) from boxcar_instance where rank = 0",
                                        "select count(*) from instance where rank = 0"),
                     0);
    maintain(f);
    assert_int_equal(count_instances(f), 0);
    assert_false(ack(f, f->owner, held));
}

static void process_with(struct fixture *f, boxcar_owner owner, int64_t threshold_ms, bool beats) {
    boxcar_heartbeat heartbeat = BOXCAR_HEARTBEAT_INIT;
    boxcar_request batch = batch_of(owner);
    batch.stale_threshold_ms = threshold_ms;
    batch.heartbeat = beats ? &heartbeat : NULL;
    boxcar_result_free(process(f, &batch));
}

static void batch_removes_those_silent_for_its_threshold(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    struct taken held = take_for(f, f->owner, id, LONG_LEASE_MS);
    register_in(f, f->owner, BOXCAR_INBOX);
    go_silent(f, 10);
    process_with(f, f->other, 20000, false);
    process_with(f, f->other, 0, true); /* 30 seconds */
    assert_int_equal(count_instances(f), 3);
    process_with(f, f->other, 5000, false);
    assert_int_equal(count_instances(f), 2);
    struct taken again = take_wait(f, f->other, id, 30000);
    assert_int_equal(again.retry_count, 1); /* as if the lease had expired */
    assert_false(ack(f, f->owner, held));
    assert_true(ack(f, f->other, again));
}

static void batch_with_a_heartbeat_removes_the_stale(void **state) {
    struct fixture *f = *state;
    register_in(f, f->owner, BOXCAR_OUTBOX);
    go_silent(f, 31);
    process_with(f, f->other, 0, false);
    assert_int_equal(count_instances(f), 1);
    process_with(f, f->other, 0, true);
    assert_int_equal(count_instances(f), 2); /* those of the other, in both boxes */
    go_silent(f, 31);
    process_with(f, f->other, 0, true); /* an owner that sends a request is not stale */
    assert_int_equal(count_instances(f), 2);
}

static void threshold_out_of_range_is_refused(void **state) {
    struct fixture *f = *state;
    boxcar_request batch = batch_of(f->owner);
    boxcar_result *result = NULL;
    batch.stale_threshold_ms = 999;
    ASSERT_INVALID(f, "stale_threshold_ms", boxcar_process(f->store, &batch, &result, &f->err));
    batch.stale_threshold_ms = 86400001;
    ASSERT_INVALID(f, "stale_threshold_ms", boxcar_process(f->store, &batch, &result, &f->err));
}

/* ---- coordinators ---- */

static int64_t count_of(struct fixture *f, const char *box) {
    char sqlite_text[160], postgres_text[160];
    snprintf(sqlite_text, sizeof(sqlite_text), "select count(*) from boxcar_instance where box = '%s'", box);
    snprintf(postgres_text, sizeof(postgres_text), "select count(*) from instance where box = '%s'", box);
    return fixture_sql_number(f, sqlite_text, postgres_text);
}

static struct taken claim_by(struct fixture *f, boxcar_coordinator *coordinator, const char *pattern) {
    boxcar_flush_options options = BOXCAR_FLUSH_OPTIONS_INIT;
    boxcar_claimer wanted = BOXCAR_CLAIMER_INIT;
    boxcar_str topic = boxcar_str_of(pattern);
    boxcar_flush *flushed = NULL;
    wanted.lease_ms = LONG_LEASE_MS;
    wanted.topics = &topic;
    wanted.topic_count = 1;
    options.claims[BOXCAR_OUTBOX] = &wanted;
    ASSERT_OK(f, boxcar_coordinator_flush(coordinator, &options, &flushed, &f->err));
    const boxcar_message_list *list = flushed->claimed[BOXCAR_OUTBOX];
    assert_int_equal(list->count, 1);
    const boxcar_message *message = list->items[0];
    struct taken taken = {.work_id = message->work_id, .epoch = message->epoch};
    boxcar_flush_free(flushed);
    return taken;
}

/* It speaks by itself, three times within the time after which it would be stale. */
static void coordinator_with_a_thread_keeps_its_leases(void **state) {
    struct fixture *f = *state;
    set_setting(f, "instance_timeout", "1s");
    enqueue(f, "mail.send", "p");
    boxcar_coordinator *coordinator = coordinator_open(f, BOXCAR_STRATEGY_INTERVAL, NULL, NULL);
    struct taken held = claim_by(f, coordinator, "mail.*");
    boxcar_time end = database_now(f) + 1700000;
    while (database_now(f) < end) {
        maintain(f);
        pause_ms(50);
    }
    assert_int_equal(count_of(f, "outbox"), 1);
    assert_int_equal(count_of(f, "inbox"), 0);
    assert_int_equal(fixture_sql_number(f,
                                        "select count(*) from boxcar_instance where topics = '[\"mail.*\"]'",
                                        "select count(*) from instance where topics = '{mail.*}'"),
                     1);
    assert_true(ack(f, f->owner, held));
    coordinator_shut(f, coordinator);
    assert_int_equal(count_instances(f), 0);
}

/* It could not speak while its program works: then it is better not known. */
static void coordinator_without_a_thread_is_not_registered(void **state) {
    struct fixture *f = *state;
    enqueue(f, "t", "p");
    boxcar_coordinator *coordinator = coordinator_open(f, BOXCAR_STRATEGY_SCOPED, NULL, NULL);
    struct taken held = claim_by(f, coordinator, "t");
    queue_ack(f, coordinator, held);
    boxcar_flush_free(flush(f, coordinator));
    assert_int_equal(count_instances(f), 0);
    coordinator_shut(f, coordinator);
}

/* One that registered in another way lives by its coordinator's flushes. */
static void flush_is_a_sign_of_life(void **state) {
    struct fixture *f = *state;
    struct taken held = take_for(f, f->owner, enqueue(f, "t", "p").work_id, LONG_LEASE_MS);
    struct taken other = take_for(f, f->owner, enqueue(f, "t", "q").work_id, LONG_LEASE_MS);
    register_in(f, f->owner, BOXCAR_INBOX);
    go_silent(f, 61);
    wait_out(f, 600); /* PostgreSQL: the claim was a sign of life too, and for half a second it would count
                         for the ack */
    boxcar_coordinator *coordinator = coordinator_open(f, BOXCAR_STRATEGY_SCOPED, NULL, NULL);
    queue_ack(f, coordinator, other);
    boxcar_flush_free(flush(f, coordinator));
    maintain(f);
    assert_true(ack(f, f->owner, held));
    coordinator_shut(f, coordinator);
}

static boxcar_coordinator *open_with_threshold(struct fixture *f, boxcar_strategy strategy,
                                               int64_t threshold_ms) {
    boxcar_coordinator_options options = BOXCAR_COORDINATOR_OPTIONS_INIT;
    boxcar_store_options store = fixture_options(f);
    boxcar_coordinator *coordinator = NULL;
    options.store = &store;
    options.owner = f->other;
    options.strategy = strategy;
    options.stale_threshold_ms = threshold_ms;
    ASSERT_OK(f, boxcar_coordinator_new(&options, &coordinator, &f->err));
    return coordinator;
}

static boxcar_flush *flush_with_claim(struct fixture *f, boxcar_coordinator *coordinator) {
    boxcar_flush_options options = BOXCAR_FLUSH_OPTIONS_INIT;
    boxcar_claimer claimer = BOXCAR_CLAIMER_INIT;
    boxcar_flush *flushed = NULL;
    claimer.batch_size = 1;
    options.claims[BOXCAR_OUTBOX] = &claimer;
    ASSERT_OK(f, boxcar_coordinator_flush(coordinator, &options, &flushed, &f->err));
    return flushed;
}

/* It sends no heartbeats: its claims ask. A flush that only stores removes nobody. */
static void claims_of_a_coordinator_remove_those_silent_for_its_threshold(void **state) {
    struct fixture *f = *state;
    struct taken held = take_for(f, f->owner, enqueue(f, "t", "p").work_id, LONG_LEASE_MS);
    register_in(f, f->owner, BOXCAR_OUTBOX);
    go_silent(f, 10);
    boxcar_coordinator *patient = open_with_threshold(f, BOXCAR_STRATEGY_SCOPED, 20000);
    boxcar_flush_free(flush_with_claim(f, patient));
    assert_int_equal(count_instances(f), 1);
    boxcar_coordinator *impatient = open_with_threshold(f, BOXCAR_STRATEGY_SCOPED, 5000);
    queue_message(f, impatient, "q");
    boxcar_flush_free(flush(f, impatient));
    assert_int_equal(count_instances(f), 1);
    boxcar_flush_free(flush_with_claim(f, impatient));
    assert_int_equal(count_instances(f), 0);
    assert_false(ack(f, f->owner, held));
    coordinator_shut(f, impatient);
    coordinator_shut(f, patient);
}

/* It speaks often enough to live by its own threshold. */
static void heartbeat_of_a_coordinator_removes_those_silent_for_its_threshold(void **state) {
    struct fixture *f = *state;
    boxcar_coordinator *coordinator = open_with_threshold(f, BOXCAR_STRATEGY_INTERVAL, 1000);
    boxcar_flush_free(flush_with_claim(f, coordinator));
    while (count_of(f, "outbox") < 1)
        pause_ms(5);
    register_in(f, f->owner, BOXCAR_INBOX);
    go_silent(f, 10);
    while (count_of(f, "inbox") > 0)
        pause_ms(5);
    assert_int_equal(count_of(f, "outbox"), 1);
    coordinator_shut(f, coordinator);
}

static void coordinators_threshold_out_of_range_is_refused(void **state) {
    static const int64_t BAD[] = {-1, 999, 86400001};
    struct fixture *f = *state;
    boxcar_coordinator_options options = BOXCAR_COORDINATOR_OPTIONS_INIT;
    boxcar_coordinator *coordinator = NULL;
    options.lent = f->store;
    options.strategy = BOXCAR_STRATEGY_SCOPED;
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        options.stale_threshold_ms = BAD[i];
        ASSERT_INVALID(f, "stale_threshold_ms", boxcar_coordinator_new(&options, &coordinator, &f->err));
    }
}

static const struct CMUnitTest TESTS[] = {
    TEST(claims_of_a_coordinator_remove_those_silent_for_its_threshold),
    TEST(heartbeat_of_a_coordinator_removes_those_silent_for_its_threshold),
    TEST(coordinators_threshold_out_of_range_is_refused),
    TEST(coordinator_with_a_thread_keeps_its_leases),
    TEST(coordinator_without_a_thread_is_not_registered),
    TEST(flush_is_a_sign_of_life),
    TEST(every_call_that_names_the_owner_keeps_its_leases),
    TEST(registration_in_one_box_covers_the_leases_of_both),
    TEST(unregistered_owner_keeps_its_leases),
    TEST(heartbeat_alone_registers_in_both_boxes),
    TEST(claim_without_topics_is_for_every_topic),
    TEST(heartbeat_alone_keeps_what_is_registered),
    TEST(setting_says_how_long_an_instance_may_be_silent),
    TEST(batch_removes_those_silent_for_its_threshold),
    TEST(batch_with_a_heartbeat_removes_the_stale),
    TEST(threshold_out_of_range_is_refused),
};

const struct suite LIFE_SUITE = SUITE(TESTS);

/* ---- open transactions on PostgreSQL ---- */

#define OWNER "'11111111-1111-1111-1111-111111111111'"
#define BATCH(json) "select process_work_batch(" OWNER ", '" json "')"

/* Somebody else cleans up meanwhile: with a time-out, because nobody may wait here. */
static void clean_up(PGconn *conn) {
    pg_exec(conn, "set lock_timeout = '2s'");
    pg_exec(conn, "select process_work_batch('22222222-2222-2222-2222-222222222222', "
                  "'{\"stale_threshold_seconds\": 30}')");
}

static int64_t is_registered(PGconn *conn) {
    return pg_number(conn, "select count(*) from instance_row where instance_id = " OWNER);
}

static void open_transaction_that_has_spoken_keeps_its_instance(void **state) {
    struct fixture *f = *state;
    PGconn *speaker = fixture_connect(f), *other = fixture_connect(f);
    pg_exec(speaker, BATCH("{\"heartbeat\": {}, \"outbox\": {}}"));
    go_silent(f, 61);
    pg_exec(other, "begin");
    pg_exec(other, "select outbox_ack(" OWNER ", '{1}')");
    clean_up(speaker);
    assert_int_equal(is_registered(speaker), 1);
    pg_exec(other, "rollback"); /* then it sent nothing */
    clean_up(speaker);
    assert_int_equal(is_registered(speaker), 0);
    PQfinish(speaker);
    PQfinish(other);
}

/* The first transaction holds the owner's rows; what others say meanwhile neither waits nor goes with it. */
static void rolled_back_transaction_takes_no_other_sign_along(void **state) {
    struct fixture *f = *state;
    PGconn *first = fixture_connect(f), *second = fixture_connect(f), *cleaner = fixture_connect(f);
    pg_exec(first, BATCH("{\"heartbeat\": {}, \"outbox\": {}}"));
    go_silent(f, 61);
    PQreset(first);
    pg_exec(first, "set search_path to %s", f->schema);
    pg_exec(first, "begin");
    pg_exec(first, "select outbox_ack(" OWNER ", '{1}')");
    pg_exec(second, "set lock_timeout = '2s'");
    pg_exec(second, "select outbox_ack(" OWNER ", '{1}')");
    pg_exec(second, BATCH("{\"heartbeat\": {}, \"outbox\": {}, \"inbox\": {}}"));
    pg_exec(first, "rollback");
    clean_up(cleaner);
    assert_int_equal(is_registered(cleaner), 2);
    PQfinish(first);
    PQfinish(second);
    PQfinish(cleaner);
}

/* Under an old snapshot everybody seems silent. */
static void older_snapshot_removes_nobody(void **state) {
    struct fixture *f = *state;
    PGconn *old = fixture_connect(f), *speaker = fixture_connect(f);
    pg_exec(speaker, BATCH("{\"heartbeat\": {}, \"outbox\": {}}"));
    go_silent(f, 61);
    pg_exec(old, "begin isolation level repeatable read");
    pg_exec(old, "select count(*) from instance_row");
    pg_exec(old, "select process_work_batch('22222222-2222-2222-2222-222222222222', "
                 "'{\"stale_threshold_seconds\": 30}')");
    pg_exec(old, "commit");
    assert_int_equal(is_registered(speaker), 1);
    PQfinish(old);
    PQfinish(speaker);
}

static void batch_names_a_bad_threshold(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_fails(conn, "BX001", BATCH("{\"stale_threshold_seconds\": 0}"));
    pg_fails(conn, "BX001", BATCH("{\"stale_threshold_seconds\": \"5\"}"));
    pg_fails(conn, "BX001", BATCH("{\"stale_threshold_seconds\": 86401}"));
    pg_exec(conn, BATCH("{\"stale_threshold_seconds\": null}"));
    PQfinish(conn);
}

static const struct CMUnitTest POSTGRES_TESTS[] = {
    TEST(open_transaction_that_has_spoken_keeps_its_instance),
    TEST(rolled_back_transaction_takes_no_other_sign_along),
    TEST(older_snapshot_removes_nobody),
    TEST(batch_names_a_bad_threshold),
};

const struct suite LIFE_POSTGRES_SUITE = SUITE(POSTGRES_TESTS);
