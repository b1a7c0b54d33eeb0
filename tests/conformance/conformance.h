/* The suites of the conformance program, one per theme and file. */
#ifndef BOXCAR_TESTS_CONFORMANCE_H
#define BOXCAR_TESTS_CONFORMANCE_H

#include "actions.h"
#include "crew.h"

enum {
    ON_SQLITE = FIXTURE_SQLITE,
    ON_POSTGRES = FIXTURE_POSTGRES | FIXTURE_PGBOUNCER,
    ON_EVERY_STORE = ON_SQLITE | ON_POSTGRES
};

struct suite {
    const char *name;
    const struct CMUnitTest *tests;
    size_t count;
    int stores; /* the kinds it is meant for */
};

#define SUITE(suite_name, suite_tests, suite_stores)                                                         \
    {                                                                                                        \
        .name = (suite_name), .tests = (suite_tests),                                                        \
        .count = sizeof(suite_tests) / sizeof((suite_tests)[0]), .stores = (suite_stores)                    \
    }

extern const struct suite ENQUEUE_SUITE, CLAIM_SUITE, ACK_SUITE, ABANDON_SUITE, DEAD_SUITE, LEASE_SUITE,
    EXPIRY_SUITE, SUSPECT_SUITE, TOPIC_SUITE, STREAM_SUITE, TTL_SUITE, DUPLICATE_SUITE, INSPECT_SUITE,
    MAINTAIN_SUITE, SETTING_SUITE, CANCEL_SUITE, TRANSACTION_SUITE, SQLITE_SUITE, POSTGRES_SUITE, ROLE_SUITE,
    DEPLOY_SUITE, BAD_INPUT_SUITE, BAD_STORE_SUITE, PRIVACY_SUITE, CLOCK_SUITE, CONCURRENCY_SUITE,
    LARGE_SUITE, POLLING_SUITE, OVERLAP_SUITE, HANDLER_TRANSACTION_SUITE, INSTANCE_SUITE, DRAINED_SUITE,
    SLEEP_SUITE, OUTAGE_SUITE, WORKER_SUITE,
    DOCTOR_SUITE, DOCTOR_SQLITE_SUITE, DOCTOR_POSTGRES_SUITE, DOCTOR_ROLE_SUITE,
    JOIN_SUITE, JOIN_LIST_SUITE, JOIN_COUNT_SUITE, JOIN_TRANSACTION_SUITE, JOIN_SETTLE_SUITE, JOIN_WAIT_SUITE,
    JOIN_WAKE_SUITE, JOIN_CHAIN_SUITE, JOIN_RACE_SUITE, JOIN_RACE_ATTACH_SUITE, JOIN_RACE_END_SUITE,
    JOIN_BATCH_SUITE, JOIN_MODEL_SUITE, JOIN_BAD_INPUT_SUITE, JOIN_POSTGRES_SUITE,
    STREAM_RUN_SUITE, STREAM_HALT_SUITE, STREAM_ADMIN_SUITE, STREAM_MODEL_SUITE, PARTITION_SUITE;

#endif
