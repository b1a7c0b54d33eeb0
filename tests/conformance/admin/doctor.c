/* The doctor: what every store has it look at. Conditions are made by moving times into the past. */
#include <stdio.h>

#include "findings.h"

static const boxcar_str EVERYTHING[] = {{"*", 1}};

/* A test server may be careless about its disk, and this machine's may be full: others' business. */
static bool is_of_this_machine(const boxcar_finding *finding) {
    return has_text(finding->check, "connection") || has_text(finding->check, "disk");
}

/* BX-029 */
static void healthy_store_has_nothing_to_complain_about(void **state) {
    struct fixture *f = *state;
    static const char *const CHECKS[] = {"connection",   "schema",       "clock_skew",       "held_snapshot",
                                         "bloat",        "workers",      "unhandled_topics", "expired_leases",
                                         "oldest_ready", "dead_letters", "halted_streams",   "stream_order",
                                         "upkeep"};
    report_worker(f, f->owner, BOXCAR_OUTBOX, "here", EVERYTHING, 1);
    boxcar_finding_list *list = diagnose(f);
    for (size_t i = 0; i < sizeof(CHECKS) / sizeof(CHECKS[0]); i++)
        assert_true(count_findings(list, CHECKS[i], NULL) >= 1);
    for (size_t i = 0; i < list->count; i++) {
        const boxcar_finding *finding = list->items[i];
        assert_true(finding->text.len > 0 && !has_text(finding->text, "\n"));
        if (finding->severity > BOXCAR_SEVERITY_NOTE && !is_of_this_machine(finding))
            fail_msg("%s: %s", finding->check.data, finding->text.data);
    }
    boxcar_list_free(list);
}

static void bad_arguments_are_named(void **state) {
    struct fixture *f = *state;
    boxcar_finding_list *list = NULL;
    ASSERT_INVALID(f, "store", boxcar_doctor_run(NULL, BOXCAR_OUTBOX, &list, &f->err));
    ASSERT_INVALID(f, "ret_list", boxcar_doctor_run(f->store, BOXCAR_OUTBOX, NULL, &f->err));
    ASSERT_INVALID(f, "box", boxcar_doctor_run(f->store, -1, &list, &f->err));
    assert_null(list);
    boxcar_list_free(NULL);
}

static void expire_all_leases_long_ago(struct fixture *f) {
    fixture_sql(f, "update boxcar_lease set until = until - 60000000",
                "update lease set until = until - interval '60 s'");
}

/* OBX-033, BX-003 */
static void lease_that_expired_and_that_nobody_released_is_a_warning(void **state) {
    struct fixture *f = *state;
    enqueue_many(f, "t", 3, NULL);
    struct taken taken[3];
    assert_int_equal(take_all(f, f->owner, 1000, taken, 3), 3);
    assert_found(f, "expired_leases", BOXCAR_SEVERITY_OK, "no lease");
    expire_all_leases_long_ago(f);
    assert_found(f, "expired_leases", BOXCAR_SEVERITY_WARNING, "3 messages are under leases");
    assert_int_equal(reap(f), 3); /* so the doctor had changed nothing */
    assert_found(f, "expired_leases", BOXCAR_SEVERITY_OK, "no lease");
}

static void ready_messages_without_a_worker_are_a_warning(void **state) {
    struct fixture *f = *state;
    assert_found(f, "workers", BOXCAR_SEVERITY_OK, "no worker is running, and nothing is ready");
    enqueue(f, "t", "p");
    assert_found(f, "workers", BOXCAR_SEVERITY_WARNING, "while 1 message is ready");
    report_worker(f, f->owner, BOXCAR_OUTBOX, "alpha", EVERYTHING, 1);
    assert_found(f, "workers", BOXCAR_SEVERITY_OK, "1 worker on 1 host: alpha (1)");
}

/* BX-061 */
static void worker_that_has_been_silent_for_long_does_not_count(void **state) {
    struct fixture *f = *state;
    enqueue(f, "t", "p");
    report_worker(f, f->owner, BOXCAR_OUTBOX, "alpha", EVERYTHING, 1);
    fixture_sql(f, "update boxcar_instance_row set seen_at = seen_at - 61000000",
                "update instance_row set seen_at = seen_at - interval '61 s'; "
                "update instance_sign set seen_at = seen_at - interval '61 s'");
    assert_found(f, "workers", BOXCAR_SEVERITY_WARNING, "no worker has reported");
    report_worker(f, f->owner, BOXCAR_OUTBOX, "alpha", EVERYTHING, 1);
    assert_found(f, "workers", BOXCAR_SEVERITY_OK, "1 worker on 1 host");
}

static void silence_for(struct fixture *f, int seconds) {
    char sqlite_text[100], postgres_text[200];
    snprintf(sqlite_text, sizeof(sqlite_text), "update boxcar_instance_row set seen_at = seen_at - %d000000",
             seconds);
    snprintf(postgres_text, sizeof(postgres_text),
             "update instance_row set seen_at = seen_at - interval '%d s'; "
             "update instance_sign set seen_at = seen_at - interval '%d s'",
             seconds, seconds);
    fixture_sql(f, sqlite_text, postgres_text);
}

/* BX-061: as long as the store's setting says, here and for the topics that workers handle. */
static void worker_lives_as_long_as_the_setting_says(void **state) {
    struct fixture *f = *state;
    enqueue(f, "t", "p");
    ASSERT_OK(f, boxcar_setting_write(f->store, BOXCAR_STR("instance_timeout"), BOXCAR_STR("10m"), &f->err));
    report_worker(f, f->owner, BOXCAR_OUTBOX, "alpha", EVERYTHING, 1);
    silence_for(f, 300);
    assert_found(f, "workers", BOXCAR_SEVERITY_OK, "1 worker on 1 host: alpha (1)");
    assert_found(f, "unhandled_topics", BOXCAR_SEVERITY_OK, "every topic with ready messages is handled");
    ASSERT_OK(f, boxcar_setting_write(f->store, BOXCAR_STR("instance_timeout"), BOXCAR_STR("5s"), &f->err));
    report_worker(f, f->owner, BOXCAR_OUTBOX, "alpha", EVERYTHING, 1);
    silence_for(f, 10);
    assert_found(f, "workers", BOXCAR_SEVERITY_WARNING, "no worker has reported within 5.0s while");
}

static void workers_are_counted_by_host(void **state) {
    struct fixture *f = *state;
    report_worker(f, f->owner, BOXCAR_OUTBOX, "beta", EVERYTHING, 1);
    report_worker(f, f->other, BOXCAR_OUTBOX, "alpha", EVERYTHING, 1);
    report_worker(f, (boxcar_owner){boxcar_uuid_new()}, BOXCAR_OUTBOX, "beta", EVERYTHING, 1);
    report_worker(f, (boxcar_owner){boxcar_uuid_new()}, BOXCAR_INBOX, "gamma", EVERYTHING, 1);
    assert_found(f, "workers", BOXCAR_SEVERITY_OK, "3 workers on 2 hosts: beta (2), alpha (1)");
}

/* Programs that claim by themselves do not report. */
static void leases_of_somebody_who_does_not_report_are_only_noted(void **state) {
    struct fixture *f = *state;
    enqueue_many(f, "t", 2, NULL);
    boxcar_list_free(claim(f, f->owner, 1));
    assert_found(f, "workers", BOXCAR_SEVERITY_NOTE, "a program without heartbeats");
}

/* BX-024 */
static void topic_that_no_running_worker_handles_is_named(void **state) {
    struct fixture *f = *state;
    const boxcar_str topics[] = {BOXCAR_STR("mail"), BOXCAR_STR("orders.*")};
    enqueue(f, "mail", "p");
    enqueue(f, "orders.paid", "p");
    report_worker(f, f->owner, BOXCAR_OUTBOX, "here", topics, 2);
    assert_found(f, "unhandled_topics", BOXCAR_SEVERITY_OK, "every topic");
    enqueue_many(f, "Mail", 2, NULL);
    enqueue(f, "order", "p");
    boxcar_finding_list *list = diagnose(f);
    assert_int_equal(count_findings(list, "unhandled_topics", NULL), 2);
    assert_int_equal(count_findings(list, "unhandled_topics", "handles Mail: 2 ready"), 1);
    assert_int_equal(count_findings(list, "unhandled_topics", "handles order: 1 ready"), 1);
    boxcar_list_free(list);
    assert_found(f, "unhandled_topics", BOXCAR_SEVERITY_WARNING, "handles Mail");
    report_worker(f, f->other, BOXCAR_OUTBOX, "there", EVERYTHING, 1);
    assert_found(f, "unhandled_topics", BOXCAR_SEVERITY_OK, "every topic");
}

/* BX-024 */
static void topic_whose_messages_are_not_ready_is_not_named(void **state) {
    struct fixture *f = *state;
    const boxcar_str topics[] = {BOXCAR_STR("mail")};
    report_worker(f, f->owner, BOXCAR_OUTBOX, "here", topics, 1);
    boxcar_new_message later = new_message("later", "p");
    later.delay_ms = 3600000;
    enqueue_message(f, &later);
    enqueue_done(f, "done");
    assert_found(f, "unhandled_topics", BOXCAR_SEVERITY_OK, "every topic");
}

/* BX-024: messages that claimers have passed over. */
static void topic_left_behind_by_claims_is_named(void **state) {
    struct fixture *f = *state;
    const boxcar_str topics[] = {BOXCAR_STR("mail")};
    report_worker(f, f->owner, BOXCAR_OUTBOX, "here", topics, 1);
    enqueue_many(f, "orphan", 3, NULL);
    enqueue(f, "mail", "p");
    boxcar_list_free(claim_topic(f, f->owner, 10, "mail"));
    assert_found(f, "unhandled_topics", BOXCAR_SEVERITY_WARNING, "handles orphan: 3 ready");
}

static void without_any_worker_that_is_said_once(void **state) {
    struct fixture *f = *state;
    enqueue(f, "a", "p");
    enqueue(f, "b", "p");
    boxcar_finding_list *list = diagnose(f);
    assert_int_equal(only_finding(list, "workers")->severity, BOXCAR_SEVERITY_WARNING);
    assert_int_equal(only_finding(list, "unhandled_topics")->severity, BOXCAR_SEVERITY_OK);
    boxcar_list_free(list);
}

static void ten_topics_are_named_those_with_most_messages_first(void **state) {
    struct fixture *f = *state;
    const boxcar_str topics[] = {BOXCAR_STR("mail")};
    report_worker(f, f->owner, BOXCAR_OUTBOX, "here", topics, 1);
    for (size_t i = 0; i < 13; i++) {
        char topic[16];
        snprintf(topic, sizeof(topic), "topic.%zu", i);
        enqueue_many(f, topic, i + 1, NULL);
    }
    boxcar_finding_list *list = diagnose(f);
    assert_int_equal(count_findings(list, "unhandled_topics", NULL), 11);
    assert_int_equal(count_findings(list, "unhandled_topics", "topic.12: 13 ready"), 1);
    assert_int_equal(count_findings(list, "unhandled_topics", "topic.3: 4 ready"), 1);
    assert_int_equal(count_findings(list, "unhandled_topics", "topic.2:"), 0);
    assert_int_equal(count_findings(list, "unhandled_topics", "3 more topics"), 1);
    boxcar_list_free(list);
}

static void message_that_has_been_ready_for_long_is_a_warning(void **state) {
    struct fixture *f = *state;
    enqueue(f, "t", "p");
    assert_found(f, "oldest_ready", BOXCAR_SEVERITY_OK, "1 message is ready");
    fixture_sql(f, "update boxcar_message set created_at = created_at - 600000000",
                "update message set created_at = created_at - interval '10 min'");
    assert_found(f, "oldest_ready", BOXCAR_SEVERITY_WARNING, "the oldest for 10m");
}

/* BX-025 */
static void dead_letters_are_noted_and_many_at_once_are_a_warning(void **state) {
    struct fixture *f = *state;
    assert_found(f, "dead_letters", BOXCAR_SEVERITY_OK, "none");
    enqueue_dead(f, "t", "no");
    assert_found(f, "dead_letters", BOXCAR_SEVERITY_NOTE, "1 dead letter, 1 of them died in the last hour");
    fixture_sql(f, "update boxcar_dead set died_at = died_at - 7200000000",
                "update dead set died_at = died_at - interval '2 h'");
    assert_found(f, "dead_letters", BOXCAR_SEVERITY_NOTE, "1 dead letter, 0 of them");
    enqueue_many(f, "t", 100, NULL);
    struct taken taken[100];
    assert_int_equal(take_all(f, f->owner, 60000, taken, 100), 100);
    boxcar_settlement settlements[100];
    for (size_t i = 0; i < 100; i++)
        settlements[i] = settlement_of(taken[i]);
    ASSERT_OK(f, boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), BOXCAR_FAIL, settlements, 100,
                               NULL, NULL, &f->err));
    assert_found(f, "dead_letters", BOXCAR_SEVERITY_WARNING, "101 dead letters, 100 of them");
}

/* Every round of upkeep is noted, in any program, so that their absence can be noticed. */
static void store_whose_upkeep_does_not_run_is_a_warning(void **state) {
    struct fixture *f = *state;
    boxcar_upkeep upkeep = {.struct_size = sizeof(boxcar_upkeep), .has_run = true};
    ASSERT_OK(f, boxcar_upkeep_read(f->store, &upkeep, &f->err));
    assert_false(upkeep.has_run);
    assert_found(f, "upkeep", BOXCAR_SEVERITY_OK, "upkeep never ran in the ");
    fixture_sql(f, "update boxcar_upkeep set since = since - 2 * 3600000000",
                "update upkeep set since = since - interval '2 h'");
    assert_found(f, "upkeep", BOXCAR_SEVERITY_OK, "upkeep never ran in the 2h"); /* nothing is there */
    enqueue(f, "t", "p");
    assert_found(f, "upkeep", BOXCAR_SEVERITY_NOTE, "upkeep never ran in the 2h");
    fixture_sql(f, "update boxcar_upkeep set since = since - 48 * 3600000000",
                "update upkeep set since = since - interval '48 h'");
    assert_found(f, "upkeep", BOXCAR_SEVERITY_WARNING, "upkeep never ran in the 2d");
    ASSERT_OK(f, boxcar_maintenance_run(f->store, NULL, &f->err));
    assert_found(f, "upkeep", BOXCAR_SEVERITY_OK, "upkeep ran 0.");
    ASSERT_OK(f, boxcar_upkeep_read(f->store, &upkeep, &f->err));
    assert_true(upkeep.has_run && upkeep.seconds < 60);
    fixture_sql(f, "update boxcar_upkeep set ran_at = ran_at - 30 * 3600000000",
                "update upkeep set ran_at = ran_at - interval '30 h'");
    assert_found(f, "upkeep", BOXCAR_SEVERITY_WARNING, "upkeep ran 30h ago");
    ASSERT_OK(f, boxcar_upkeep_read(f->store, &upkeep, &f->err));
    assert_true(upkeep.has_run && upkeep.seconds > 29 * 3600);
    ASSERT_INVALID(f, "store", boxcar_upkeep_read(NULL, &upkeep, &f->err));
    ASSERT_INVALID(f, "ret_upkeep", boxcar_upkeep_read(f->store, NULL, &f->err));
}

/* The other box has its own workers, leases and dead letters. */
static void each_box_is_looked_at_by_itself(void **state) {
    struct fixture *f = *state;
    enqueue_dead(f, "t", "no");
    enqueue(f, "t", "p");
    report_worker(f, f->owner, BOXCAR_OUTBOX, "here", EVERYTHING, 1);
    boxcar_finding_list *list = NULL;
    ASSERT_OK(f, boxcar_doctor_run(f->store, BOXCAR_INBOX, &list, &f->err));
    assert_int_equal(count_findings(list, "workers", "no worker is running, and nothing is ready"), 1);
    assert_int_equal(only_finding(list, "dead_letters")->severity, BOXCAR_SEVERITY_OK);
    assert_int_equal(only_finding(list, "oldest_ready")->severity, BOXCAR_SEVERITY_OK);
    boxcar_list_free(list);
}

/* BX-010 */
static void no_payload_and_no_error_text_is_shown(void **state) {
    struct fixture *f = *state;
    const boxcar_str topics[] = {BOXCAR_STR("mail")};
    enqueue_dead(f, "t", "s3cret");
    enqueue(f, "t", "s3cret");
    report_worker(f, f->owner, BOXCAR_OUTBOX, "here", topics, 1);
    boxcar_finding_list *list = diagnose(f);
    for (size_t i = 0; i < list->count; i++) {
        assert_false(has_text(list->items[i]->text, "s3cret"));
        assert_false(has_text(list->items[i]->remedy, "s3cret"));
    }
    boxcar_list_free(list);
}

static const struct CMUnitTest TESTS[] = {
    TEST(healthy_store_has_nothing_to_complain_about),
    TEST(bad_arguments_are_named),
    TEST(lease_that_expired_and_that_nobody_released_is_a_warning),
    TEST(ready_messages_without_a_worker_are_a_warning),
    TEST(worker_that_has_been_silent_for_long_does_not_count),
    TEST(worker_lives_as_long_as_the_setting_says),
    TEST(workers_are_counted_by_host),
    TEST(leases_of_somebody_who_does_not_report_are_only_noted),
    TEST(topic_that_no_running_worker_handles_is_named),
    TEST(topic_whose_messages_are_not_ready_is_not_named),
    TEST(topic_left_behind_by_claims_is_named),
    TEST(without_any_worker_that_is_said_once),
    TEST(ten_topics_are_named_those_with_most_messages_first),
    TEST(message_that_has_been_ready_for_long_is_a_warning),
    TEST(dead_letters_are_noted_and_many_at_once_are_a_warning),
    TEST(store_whose_upkeep_does_not_run_is_a_warning),
    TEST(each_box_is_looked_at_by_itself),
    TEST(no_payload_and_no_error_text_is_shown),
};

const struct suite DOCTOR_SUITE = SUITE(TESTS);
