/* Workers say that they live, and those silent for long are forgotten. */
#include "conformance.h"
#include "request/request.h"

static void beat(struct fixture *f, boxcar_owner owner, int concurrency) {
    static const boxcar_str topics[] = {{"orders.paid", 11}, {"mail.*", 6}};
    struct instance instance = {.owner = owner,
                                .box = BOXCAR_OUTBOX,
                                .host = BOXCAR_STR("the-host"),
                                .pid = 4711,
                                .concurrency = concurrency,
                                .topics = topics,
                                .topic_count = 2};
    ASSERT_OK(f, request_beat(f->store, &instance, 1, 0, &f->err));
}

static int64_t count_instances(struct fixture *f) {
    return fixture_sql_number(f, "select count(*) from boxcar_instance", "select count(*) from instance");
}

static void maintain(struct fixture *f) {
    boxcar_maintenance done = BOXCAR_MAINTENANCE_INIT;
    ASSERT_OK(f, boxcar_maintenance_run(f->store, &done, &f->err));
}

/* As if everyone had been silent for so long. */
static void go_silent_61s(struct fixture *f) {
    fixture_sql(
        f, "update boxcar_instance_row set seen_at = seen_at - 61000000, started_at = started_at - 61000000",
        "update instance_row set seen_at = seen_at - interval '61 s', "
        "started_at = started_at - interval '61 s'; "
        "update instance_sign set seen_at = seen_at - interval '61 s'");
}

/* BX-061 */
static void heartbeat_makes_an_instance_visible(void **state) {
    struct fixture *f = *state;
    beat(f, f->owner, 4);
    assert_int_equal(
        fixture_sql_number(f,
                           "select count(*) from boxcar_instance where host = 'the-host' and pid = 4711 and "
                           "concurrency = 4 and box = 'outbox' and topics = '[\"mail.*\",\"orders.paid\"]' "
                           "and started_at = seen_at",
                           "select count(*) from instance where host = 'the-host' and pid = 4711 and "
                           "concurrency = 4 and box = 'outbox' and topics = '{orders.paid,mail.*}' "
                           "and started_at = seen_at"),
        1);
    beat(f, f->other, 4);
    assert_int_equal(count_instances(f), 2);
}

/* BX-061 */
static void later_heartbeats_keep_the_start_and_bring_the_rest_up_to_date(void **state) {
    struct fixture *f = *state;
    beat(f, f->owner, 4);
    go_silent_61s(f);
    beat(f, f->owner, 8);
    assert_int_equal(count_instances(f), 1);
    assert_int_equal(fixture_sql_number(f,
                                        "select count(*) from boxcar_instance_row where concurrency = 8 and "
                                        "seen_at - started_at >= 61000000",
                                        "select count(*) from instance where concurrency = 8 and seen_at - "
                                        "started_at >= interval '61 s'"),
                     1);
}

/* BX-061 */
static void farewell_removes_the_instance_and_no_other(void **state) {
    struct fixture *f = *state;
    beat(f, f->owner, 4);
    beat(f, f->other, 5);
    ASSERT_OK(f, request_farewell(f->store, f->owner, &f->err));
    assert_int_equal(
        fixture_sql_number(f, "select concurrency from boxcar_instance", "select concurrency from instance"),
        5);
    assert_int_equal(count_instances(f), 1);
    ASSERT_OK(f, request_farewell(f->store, f->owner, &f->err)); /* gone already */
}

/* BX-061 */
static void maintenance_forgets_the_silent_and_keeps_the_living(void **state) {
    struct fixture *f = *state;
    beat(f, f->owner, 4);
    go_silent_61s(f);
    beat(f, f->other, 5);
    maintain(f);
    assert_int_equal(count_instances(f), 1);
    assert_int_equal(
        fixture_sql_number(f, "select concurrency from boxcar_instance", "select concurrency from instance"),
        5);
}

/* BX-061 */
static void heartbeat_of_a_forgotten_instance_brings_it_back(void **state) {
    struct fixture *f = *state;
    beat(f, f->owner, 4);
    go_silent_61s(f);
    maintain(f);
    assert_int_equal(count_instances(f), 0);
    beat(f, f->owner, 4);
    assert_int_equal(count_instances(f), 1);
}

/* BX-024: nobody counts on it for any topic. */
static void instance_without_topics_handles_none(void **state) {
    struct fixture *f = *state;
    struct instance instance = {.owner = f->owner, .host = BOXCAR_STR("h"), .concurrency = 1};
    ASSERT_OK(f, request_beat(f->store, &instance, 1, 0, &f->err));
    assert_int_equal(fixture_sql_number(f, "select count(*) from boxcar_instance where topics = '[]'",
                                        "select count(*) from instance where topics = '{}'"),
                     1);
}

/* BX-061: one worker may serve both boxes: it is seen in each, with the topics it handles there, and lives in
 * both as long as it says so in one. */
static void worker_of_both_boxes_is_seen_in_each(void **state) {
    struct fixture *f = *state;
    static const boxcar_str topics[] = {{"orders.paid", 11}, {"mail.*", 6}};
    struct instance instance = {
        .owner = f->owner, .host = BOXCAR_STR("h"), .concurrency = 1, .topic_count = 1};
    for (int round = 0; round < 2; round++)
        for (int box = 0; box < 2; box++) {
            instance.box = (boxcar_box)box;
            instance.topics = &topics[box];
            ASSERT_OK(f, request_beat(f->store, &instance, 1, 0, &f->err));
        }
    assert_int_equal(count_instances(f), 2);
    assert_int_equal(fixture_sql_number(f,
                                        "select count(*) from boxcar_instance where (box, topics) in "
                                        "(('outbox', '[\"orders.paid\"]'), ('inbox', '[\"mail.*\"]'))",
                                        "select count(*) from instance where (box, topics) in "
                                        "(('outbox', '{orders.paid}'), ('inbox', '{mail.*}'))"),
                     2);
    go_silent_61s(f);
    instance.box = BOXCAR_OUTBOX;
    ASSERT_OK(f, request_beat(f->store, &instance, 1, 0, &f->err));
    maintain(f);
    assert_int_equal(count_instances(f), 2);
    ASSERT_OK(f, request_farewell(f->store, f->owner, &f->err));
    assert_int_equal(count_instances(f), 0);
}

static const struct CMUnitTest TESTS[] = {
    TEST(heartbeat_makes_an_instance_visible),
    TEST(later_heartbeats_keep_the_start_and_bring_the_rest_up_to_date),
    TEST(farewell_removes_the_instance_and_no_other),
    TEST(maintenance_forgets_the_silent_and_keeps_the_living),
    TEST(heartbeat_of_a_forgotten_instance_brings_it_back),
    TEST(instance_without_topics_handles_none),
    TEST(worker_of_both_boxes_is_seen_in_each),
};

const struct suite INSTANCE_SUITE = SUITE(TESTS);
