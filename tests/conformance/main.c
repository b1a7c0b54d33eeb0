/* conformance KIND [NAME]: what every store must do, run against one of them.
 *
 * KIND is sqlite, postgres or pgbouncer; the last two need the environment that
 * tests/support/with-postgres makes, and are skipped (exit 77) without. NAME is a suite, or a
 * pattern (* and ?) for the names of tests. */
#include <stdio.h>
#include <string.h>

#include "conformance.h"

static const struct suite *const SUITES[] = {
    &ENQUEUE_SUITE,     &FEED_SUITE, &CLAIM_SUITE,       &ACK_SUITE,       &ABANDON_SUITE,  &DEAD_SUITE,
    &LEASE_SUITE,       &EXPIRY_SUITE,      &SUSPECT_SUITE,   &TOPIC_SUITE,    &STREAM_SUITE,
    &TTL_SUITE,         &DUPLICATE_SUITE, &KEY_SUITE,   &INSPECT_SUITE,   &MAINTAIN_SUITE, &SETTING_SUITE,
    &CANCEL_SUITE,      &TRANSACTION_SUITE, &SQLITE_SUITE,    &POSTGRES_SUITE, &ROLE_SUITE,     &TRUST_SUITE, &MANAGED_SUITE,   &ENTRY_SUITE, &ENTRY_SWEEP_SUITE,
    &DEPLOY_SUITE,      &BAD_INPUT_SUITE,   &BAD_STORE_SUITE, &PRIVACY_SUITE,  &CLOCK_SUITE,
    &CONCURRENCY_SUITE, &LARGE_SUITE,       &POLLING_SUITE,  &OVERLAP_SUITE,
    &HANDLER_TRANSACTION_SUITE, &INSTANCE_SUITE, &DRAINED_SUITE, &SLEEP_SUITE, &OUTAGE_SUITE, &LOST_ANSWER_SUITE, &MUTE_SUITE,
    &LIFE_SUITE,        &LIFE_POSTGRES_SUITE, &JOIN_FOLLOW_SUITE,
    &WORKER_SUITE,      &WORKER_VERDICT_SUITE, &WORKER_STOP_SUITE, &WORKER_OPTIONS_SUITE,
    &BLOCKED_SUITE,     &CLAIM_INSIDE_SUITE, &DOCTOR_SUITE,      &DOCTOR_SQLITE_SUITE, &DOCTOR_POSTGRES_SUITE, &DOCTOR_ROLE_SUITE,
    &JOIN_SUITE,        &JOIN_LIST_SUITE,   &JOIN_COUNT_SUITE, &JOIN_TRANSACTION_SUITE,
    &JOIN_SETTLE_SUITE, &JOIN_WAIT_SUITE,   &JOIN_WAKE_SUITE,  &JOIN_CHAIN_SUITE,
    &JOIN_RACE_SUITE,   &JOIN_RACE_ATTACH_SUITE, &JOIN_RACE_END_SUITE,
    &JOIN_BATCH_SUITE,  &JOIN_BULK_SUITE,   &JOIN_MODEL_SUITE,  &JOIN_BAD_INPUT_SUITE, &JOIN_POSTGRES_SUITE,
    &JOIN_OUTCOME_SUITE, &JOIN_LOG_SUITE, &JOIN_SQLITE_SUITE,
    &BOXES_SUITE,       &WORKER_BOXES_SUITE,
    &INBOX_SUITE,       &INBOX_KEY_SUITE,   &INBOX_TRANSACTION_SUITE, &INBOX_RACE_SUITE,
    &INBOX_BAD_INPUT_SUITE, &INBOX_POSTGRES_SUITE,
    &EVENT_SUITE,       &EVENT_FOLLOW_SUITE, &EVENT_TRANSACTION_SUITE, &EVENT_RACE_SUITE,
    &EVENT_BAD_INPUT_SUITE, &EVENT_POSTGRES_SUITE, &PROCESS_SUITE,     &PROCESS_POSTGRES_SUITE,
    &COORDINATOR_SUITE, &COORDINATOR_OUTAGE_SUITE, &STAGES_SUITE,
    &STREAM_RUN_SUITE,  &STREAM_HALT_SUITE, &STREAM_ADMIN_SUITE, &STREAM_LOG_SUITE, &STREAM_MODEL_SUITE, &PARTITION_SUITE,
    &PUBLICATION_SUITE, &MEND_POSTGRES_SUITE, &MEND_SQLITE_SUITE,
};
static const size_t SUITE_COUNT = sizeof(SUITES) / sizeof(SUITES[0]);

enum { EXIT_USAGE = 2, EXIT_SKIPPED = 77 };

static bool is_meant_for_chosen(const struct suite *suite) {
    return (suite->stores & (int)fixture_chosen()) != 0;
}

static const struct suite *suite_named(const char *name) {
    for (size_t i = 0; i < SUITE_COUNT; i++)
        if (strcmp(SUITES[i]->name, name) == 0)
            return SUITES[i];
    return NULL;
}

/* Suites that change more of a schema than its rows. */
static const char *const CHANGING[] = {"deploy", "role", "trust", "entry", "doctor_role", "doctor_postgres", "postgres", "join_postgres",
                                       "inbox_postgres", "event_postgres", "process_postgres", "overlap", "outage",
                                       "coordinator_outage", "publication", "mend_postgres"};

static bool changes_schemas(const struct suite *suite) {
    for (size_t i = 0; i < sizeof(CHANGING) / sizeof(CHANGING[0]); i++)
        if (strcmp(CHANGING[i], suite->name) == 0)
            return true;
    return false;
}

static int run_suite(const struct suite *suite) {
    fixture_reuse(!changes_schemas(suite));
    int failed = _cmocka_run_group_tests(suite->name, suite->tests, suite->count, NULL, NULL);
    fixture_end();
    return failed;
}

static int run_all(void) {
    int failed = 0;
    for (size_t i = 0; i < SUITE_COUNT; i++)
        if (is_meant_for_chosen(SUITES[i]))
            failed += run_suite(SUITES[i]);
    return failed;
}

static int usage(const char *program) {
    fprintf(stderr, "usage: %s sqlite|postgres|pgbouncer [SUITE|TEST-PATTERN]\nsuites:", program);
    for (size_t i = 0; i < SUITE_COUNT; i++)
        fprintf(stderr, " %s", SUITES[i]->name);
    fputc('\n', stderr);
    return EXIT_USAGE;
}

int main(int argc, char **argv) {
    bool skip = false;
    if (argc < 2 || argc > 3 || (!fixture_choose(argv[1], &skip) && !skip))
        return usage(argv[0]);
    if (skip) {
        printf("skipped: no %s server in the environment (see tests/support/with-postgres)\n", argv[1]);
        return EXIT_SKIPPED;
    }
    if (argc == 2)
        return run_all() ? 1 : 0;
    const struct suite *suite = suite_named(argv[2]);
    if (suite)
        return !is_meant_for_chosen(suite) ? EXIT_SKIPPED : run_suite(suite) ? 1 : 0;
    cmocka_set_test_filter(argv[2]);
    return run_all() ? 1 : 0;
}
