/* Deployment: explicit, idempotent, safe from many at once, and versioned. */
#include <stdio.h>
#include <string.h>

#include "conformance.h"
#include "pg.h"
#include "versions.h"

static boxcar_deployment deploy(struct fixture *f, boxcar_store *store) {
    ASSERT_OK(f, boxcar_store_deploy(store, &f->err));
    return *boxcar_store_deployment(store);
}

/* OBX-108 */
static void opening_with_deployment_creates_everything(void **state) {
    struct fixture *f = *state;
    boxcar_store_options options = fixture_options(f);
    options.deploy = true;
    ASSERT_OK(f, boxcar_store_open(&options, &f->store, &f->err));
    boxcar_deployment deployment = *boxcar_store_deployment(f->store);
    assert_int_equal(deployment.applied, boxcar_schema_version());
    assert_int_equal(deployment.previous_version, 0);
    assert_int_equal(deployment.schema_version, boxcar_schema_version());
    assert_true(ack(f, f->owner, take(f, f->owner, enqueue(f, "t", "p").work_id)));
}

/* OBX-109 */
static void opening_without_deployment_creates_nothing(void **state) {
    struct fixture *f = *state;
    boxcar_store *store = NULL;
    for (int i = 0; i < 2; i++) {
        ASSERT_FAILS(f, BOXCAR_E_NOT_DEPLOYED, fixture_open_undeployed(f, &store));
        assert_null(store);
        assert_non_null(strstr(f->err.message, "boxcar init"));
    }
    if (!fixture_is_sqlite(f)) {
        char count[200];
        snprintf(count, sizeof(count), "select count(*) from pg_namespace where nspname = '%s'", f->schema);
        assert_int_equal(fixture_sql_number(f, NULL, count), 0);
    }
}

/* OBX-110, BX-029 */
static void deploying_again_changes_nothing(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    for (int i = 0; i < 3; i++) {
        boxcar_deployment deployment = deploy(f, f->store);
        assert_int_equal(deployment.applied, 0);
        assert_int_equal(deployment.schema_version, boxcar_schema_version());
        assert_int_equal(deployment.previous_version, boxcar_schema_version());
    }
    take(f, f->owner, id);
}

static const char *deploy_at_once(struct crew_member *member) {
    boxcar_store_options options = fixture_options(member->f);
    options.deploy = true;
    boxcar_store *store = NULL;
    if (boxcar_store_open(&options, &store, &member->err) != BOXCAR_OK)
        return "deploy";
    boxcar_status status = boxcar_store_deploy(store, &member->err);
    boxcar_new_message message = new_message("t", "p");
    boxcar_enqueued enqueued;
    if (status == BOXCAR_OK)
        status = boxcar_enqueue(store, BOXCAR_OUTBOX, &message, &enqueued, &member->err);
    boxcar_store_close(store);
    return status == BOXCAR_OK ? NULL : "first use";
}

/* OBX-108, OBX-110 */
static void eight_may_deploy_at_once(void **state) {
    struct fixture *f = *state;
    crew_run_bare(f, 8, deploy_at_once, NULL);
    f->store = fixture_open(f);
    assert_int_equal(stats_of(f).ready, 8);
}

/* OBX-110: a schema that its owner was given has nothing yet that a deployment could lock. */
static void eight_may_deploy_into_an_empty_schema_at_once(void **state) {
    struct fixture *f = *state;
    char make_schema[100];
    snprintf(make_schema, sizeof(make_schema), "create schema %s", f->schema);
    fixture_sql(f, NULL, make_schema);
    crew_run_bare(f, 8, deploy_at_once, NULL);
    f->store = fixture_open(f);
    assert_int_equal(stats_of(f).ready, 8);
}

static const char *deploy_and_add_mended(struct crew_member *member) {
    if (boxcar_store_deploy(member->store, &member->err) != BOXCAR_OK)
        return "deploy";
    __atomic_add_fetch((int *)member->context, boxcar_store_deployment(member->store)->mended,
                       __ATOMIC_SEQ_CST);
    return NULL;
}

/* OBX-110: the others wait, and find it mended. */
static void one_of_eight_mends_what_is_missing(void **state) {
    struct fixture *f = *state;
    int mended = 0;
    fixture_sql(f, "drop index boxcar_lease_until", "drop index lease_until");
    crew_run(f, 8, deploy_and_add_mended, &mended);
    assert_int_equal(mended, 1);
}

static const char *deploy_or_work(struct crew_member *member) {
    for (int i = 0; i < 10; i++) {
        if (member->number == 0) {
            if (boxcar_store_deploy(member->store, &member->err) != BOXCAR_OK)
                return "deploy";
            continue;
        }
        boxcar_new_message message = new_message("t", "p");
        boxcar_enqueued enqueued;
        if (boxcar_enqueue(member->store, BOXCAR_OUTBOX, &message, &enqueued, &member->err) != BOXCAR_OK)
            return "enqueue";
        boxcar_claimer options = BOXCAR_CLAIMER_INIT;
        options.owner = member->owner;
        boxcar_message_list *list = NULL;
        if (boxcar_claim(member->store, &options, &list, &member->err) != BOXCAR_OK)
            return "claim";
        boxcar_list_free(list);
    }
    return NULL;
}

/* OBX-110, BX-029 */
static void deploying_beside_running_clients_disturbs_none(void **state) {
    struct fixture *f = *state;
    crew_run(f, 4, deploy_or_work, NULL);
    boxcar_stats stats = stats_of(f);
    assert_int_equal(stats.ready + stats.in_progress, 30);
}

static void write_versions(struct fixture *f, int version, int oldest_program) {
    char sqlite_text[160], postgres_text[160];
    snprintf(sqlite_text, sizeof(sqlite_text), "update boxcar_schema set version = %d, oldest_program = %d",
             version, oldest_program);
    snprintf(postgres_text, sizeof(postgres_text),
             "update store set schema_version = %d, oldest_program = %d", version, oldest_program);
    fixture_sql(f, sqlite_text, postgres_text);
}

/* BX-029 */
static void newer_store_is_accepted_while_it_accepts_us(void **state) {
    struct fixture *f = *state;
    write_versions(f, boxcar_schema_version() + 1, boxcar_schema_version());
    boxcar_store_close(f->store);
    f->store = fixture_open(f);
    assert_true(ack(f, f->owner, take(f, f->owner, enqueue(f, "t", "p").work_id)));
    boxcar_deployment deployment = deploy(f, f->store);
    assert_int_equal(deployment.applied, 0);
    assert_int_equal(deployment.schema_version, boxcar_schema_version() + 1);
}

/* BX-029 */
static void store_that_wants_newer_programs_is_refused(void **state) {
    struct fixture *f = *state;
    write_versions(f, boxcar_schema_version() + 2, boxcar_schema_version() + 1);
    boxcar_store *store = NULL;
    ASSERT_FAILS(f, BOXCAR_E_VERSION, fixture_open_undeployed(f, &store));
    assert_null(store);
    boxcar_store_options options = fixture_options(f);
    options.deploy = true;
    ASSERT_FAILS(f, BOXCAR_E_VERSION, boxcar_store_open(&options, &store, &f->err));
    assert_null(store);
}

#define COUNT_OBJECTS                                                                                        \
    "select (select count(*) from pg_class where relnamespace = current_schema()::regnamespace) + "          \
    "(select count(*) from pg_proc where pronamespace = current_schema()::regnamespace)"

/* BX-029: the tables of versions before the first release are not made any more, one after the other. */
static void store_from_before_version_9_is_refused_and_left_as_it_is(void **state) {
    struct fixture *f = *state;
    boxcar_store_options options = fixture_options(f);
    boxcar_store *store = NULL;
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    for (int version = 1; version <= 8; version += 7) {
        write_versions(f, version, 1);
        int64_t before = fixture_sql_number(f, "select count(*) from sqlite_schema", COUNT_OBJECTS);
        for (int deploys = 0; deploys < 2; deploys++) {
            options.deploy = deploys;
            ASSERT_FAILS(f, BOXCAR_E_VERSION, boxcar_store_open(&options, &store, &f->err));
            assert_null(store);
            assert_non_null(strstr(f->err.message, "only stores of version 9 and newer"));
            assert_non_null(strstr(f->err.message, "docs/operations.md"));
        }
        assert_int_equal(fixture_sql_number(f, "select count(*) from sqlite_schema", COUNT_OBJECTS), before);
        assert_int_equal(
            fixture_sql_number(f, "select version from boxcar_schema", "select schema_version from store"),
            version);
    }
    write_versions(f, boxcar_schema_version(), boxcar_schema_version());
    take(f, f->owner, id);
}

/* As a program of schema version 9 left it. */
static void take_back_to_version_9(struct fixture *f) {
    fixture_sql(f, SQLITE_BACK_TO_9 "update boxcar_schema set version = 9", POSTGRES_ALL_BACK_TO_9);
}

static void assert_nothing_claimable_of(struct fixture *f, const char *topic) {
    boxcar_message_list *list = claim_topic(f, f->owner, 10, topic);
    assert_int_equal(list->count, 0);
    boxcar_list_free(list);
}

/* What a role could store before version 10, and what stopped every claim that met it. */
#define TOO_LONG_FOR_AN_INDEX                                                                                \
    "insert into message (message_id, box, lane, created_at, topic, payload, stream) "                       \
    "select gen_random_uuid(), 0, 1, now(), 't', 'p', string_agg(md5(i::text), '') from generate_series(1, " \
    "200) i"

/* PostgreSQL: claims and acks look for members and instances from then on. Calls of functions that set no
 * flags may be going on. */
static int64_t unset_flags(struct fixture *f) {
    return fixture_is_sqlite(f)
               ? 0
               : fixture_sql_number(f, NULL,
                                    "select num_nulls(pg_sequence_last_value('member_flag'), "
                                    "pg_sequence_last_value('instance_flag'))");
}

/* OBX-110, BX-029 */
static void store_of_an_older_version_is_brought_up_to_date_and_keeps_its_messages(void **state) {
    struct fixture *f = *state;
    assert_int_equal(unset_flags(f), fixture_is_sqlite(f) ? 0 : 2);
    boxcar_work_id done = enqueue_done(f, "t").work_id;
    boxcar_work_id dead = enqueue_dead(f, "t", "no").work_id;
    boxcar_work_id held = enqueue(f, "t", "p").work_id;
    struct taken taken = take(f, f->owner, held);
    boxcar_work_id ready = enqueue(f, "t", "p").work_id;
    boxcar_work_id streamed = enqueue_streamed(f, "s", "p").work_id;
    assert_nothing_claimable_of(f, "nothing");               /* sorts it in, where claims do that */
    boxcar_work_id cancelled = enqueue(f, "t", "p").work_id; /* before any claim has met it */
    boxcar_message_ref ref = {.work_id = cancelled};
    ASSERT_OK(f, boxcar_message_cancel(f->store, BOXCAR_OUTBOX, ref, &f->err));
    boxcar_store_close(f->store);
    f->store = NULL;
    take_back_to_version_9(f);
    fixture_sql(f, NULL, TOO_LONG_FOR_AN_INDEX);
    boxcar_store *store = NULL;
    ASSERT_FAILS(f, BOXCAR_E_VERSION, fixture_open_undeployed(f, &store));
    assert_non_null(strstr(f->err.message, "boxcar init"));
    boxcar_store_options options = fixture_options(f);
    options.deploy = true;
    ASSERT_OK(f, boxcar_store_open(&options, &f->store, &f->err));
    boxcar_deployment deployment = *boxcar_store_deployment(f->store);
    assert_int_equal(deployment.previous_version, 9);
    assert_int_equal(deployment.schema_version, boxcar_schema_version());
    assert_int_equal(deployment.applied, boxcar_schema_version() - 9);
    assert_int_equal(unset_flags(f), 0);
    assert_int_equal(deploy(f, f->store).applied, 0);
    assert_int_equal(boxcar_store_deployment(f->store)->previous_version, boxcar_schema_version());
    assert_int_equal(
        fixture_sql_number(f, "select count(*) from boxcar_instance", "select count(*) from instance"), 0);
    assert_status(f, done, BOXCAR_DONE);
    assert_dead(f, dead, BOXCAR_REASON_REJECTED);
    assert_dead(f, cancelled, BOXCAR_REASON_CANCELLED);
    if (!fixture_is_sqlite(f))
        assert_int_equal(
            fixture_sql_number(f, NULL, "select count(*) from dead_letter where reason = 'cancelled'"), 2);
    assert_true(ack(f, f->owner, taken));
    struct taken both[2];
    assert_int_equal(take_all(f, f->owner, 30000, both, 2), 2);
    assert_int_equal(both[0].work_id.value, ready.value);
    assert_int_equal(both[1].work_id.value, streamed.value);
    assert_true(ack(f, f->owner, both[0]) && ack(f, f->owner, both[1]));
    assert_int_equal(audit_lost(f), 0);
}

/* Messages from before the tables checked them are buried in a transaction of its own, after the upgrade's.
 * BX-029 */
static void upgrade_that_ended_early_is_finished_by_the_next(void **state) {
    struct fixture *f = *state;
    if (fixture_is_sqlite(f))
        skip();
    boxcar_store_close(f->store);
    f->store = NULL;
    fixture_sql(f, NULL,
                POSTGRES_ALL_BACK_TO_9
                "insert into message (message_id, box, lane, created_at, topic, payload) "
                "select gen_random_uuid(), 0, 0, now(), string_agg(md5(i::text), ''), 'p' from "
                "generate_series(1, 200) i; "
                "alter table dead add constraint nobody_dies check (false) not valid");
    boxcar_store_options options = fixture_options(f);
    options.deploy = true;
    ASSERT_FAILS(f, BOXCAR_E_STORE, boxcar_store_open(&options, &f->store, &f->err));
    fixture_sql(f, NULL, "alter table dead drop constraint nobody_dies");
    f->store = fixture_open(f);
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    assert_int_equal(deploy(f, f->store).applied, 0);
    assert_int_equal(
        fixture_sql_number(f, NULL, "select count(*) from dead_letter where reason = 'cancelled'"), 1);
    take(f, f->owner, id);
}

/* A store of version 9, as it is after the one before has gone back. */
static void go_back_to_version_9(struct fixture *f) {
    boxcar_store_close(f->store);
    f->store = NULL;
    take_back_to_version_9(f);
}

static boxcar_status upgrade(struct fixture *f, int64_t answer_ms) {
    boxcar_store_options options = fixture_options(f);
    options.deploy = true;
    options.answer_timeout_ms = answer_ms;
    return boxcar_store_open(&options, &f->store, &f->err);
}

static const char *upgrade_beside(struct crew_member *member) {
    boxcar_store_options options = fixture_options(member->f);
    boxcar_store *store = NULL;
    options.deploy = true;
    boxcar_status status = boxcar_store_open(&options, &store, &member->err);
    boxcar_store_close(store);
    return status == BOXCAR_OK ? NULL : "upgrade";
}

/* Until somebody waits for this session; off the main thread. False = nobody ever does. */
static bool is_waited_for(PGconn *conn) {
    bool is = false;
    for (int i = 0; i < 2000 && !is; i++) {
        PGresult *result = PQexec(conn, "select from pg_locks l where not l.granted and pg_backend_pid() = "
                                        "any (pg_blocking_pids(l.pid))");
        is = PQntuples(result) > 0;
        PQclear(result);
        pause_ms(is ? 0 : 10);
    }
    return is;
}

/* A client with an open transaction uses another table while the upgrade waits for that transaction. */
static const char *use_one_table_after_the_other(struct crew_member *member) {
    if (member->number > 0)
        return upgrade_beside(member);
    PGconn *conn = fixture_connect(member->f);
    const char *fault = NULL;
    static const char *const TABLES[] = {"message", "stream_violation", "join_row",
                                         "parked",  "frontier",         "lease"};
    PQclear(PQexec(conn, "begin"));
    for (size_t i = 0; i < sizeof(TABLES) / sizeof(TABLES[0]) && !fault; i++) {
        char sql[100];
        snprintf(sql, sizeof(sql), "select count(*) from %s", TABLES[i]);
        PGresult *result = PQexec(conn, sql);
        fault = PQresultStatus(result) == PGRES_TUPLES_OK ? NULL : "an upgrade fails a client's transaction";
        PQclear(result);
        if (!fault && !is_waited_for(conn))
            fault = "the upgrade does not wait for a client's transaction";
    }
    PQfinish(conn);
    return fault;
}

/* BX-029 */
static void upgrade_gives_way_to_transactions_that_are_open(void **state) {
    struct fixture *f = *state;
    if (fixture_is_sqlite(f))
        skip();
    go_back_to_version_9(f);
    crew_run_bare(f, 2, use_one_table_after_the_other, NULL);
    f->store = fixture_open(f);
    take(f, f->owner, enqueue(f, "t", "p").work_id);
}

/* BX-029 */
static void upgrade_that_cannot_begin_names_who_is_in_its_way(void **state) {
    struct fixture *f = *state;
    if (fixture_is_sqlite(f))
        skip();
    go_back_to_version_9(f);
    PGconn *reader = fixture_connect(f);
    PQclear(PQexec(reader, "set application_name = 'long report'; begin; select count(*) from message"));
    ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE, upgrade(f, 500));
    assert_non_null(strstr(f->err.message, "(long report, role "));
    PQfinish(reader);
    ASSERT_OK(f, upgrade(f, 0));
    take(f, f->owner, enqueue(f, "t", "p").work_id);
}

/* Calls that wait for an upgrade go on in functions of the old version. BX-029 */
static void what_old_functions_call_says_that_the_schema_was_upgraded(void **state) {
    struct fixture *f = *state;
    if (fixture_is_sqlite(f))
        skip();
    fixture_sql(f, NULL,
                "drop function _claim_fresh; create function _claim_fresh(inout f frontier, wanted int, "
                "ts timestamptz, exact text[], prefixes text[], out taken bigint[]) language sql as "
                "'select f, null::bigint[]'; "
                "create function _lane_key(p_join uuid, p_lane int) returns bigint language sql immutable as "
                "'select 1::bigint'");
    go_back_to_version_9(f);
    ASSERT_OK(f, upgrade(f, 0));
    PGconn *conn = fixture_connect(f);
    pg_fails(conn, "40001", "select taken from _claim_fresh(null::frontier, 1, now(), null, null)");
    pg_fails(conn, "40001", "select _lane_key(gen_random_uuid(), 1)");
    PQfinish(conn);
    take(f, f->owner, enqueue(f, "t", "p").work_id);
}

static void drop_in(struct fixture *f, const char *sqlite_text, const char *postgres_text) {
    boxcar_store_close(f->store);
    f->store = NULL;
    fixture_sql(f, sqlite_text, postgres_text);
}

/* OBX-108: "if they do not already exist" */
static void deploying_again_makes_what_is_missing(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    drop_in(f, "drop view boxcar_outbox; drop index boxcar_lease_until; drop trigger boxcar_inbox_on_remove",
            "drop view outbox; drop index lease_until; drop function _setting(text, double precision); "
            "drop function outbox_ack");
    boxcar_store_options options = fixture_options(f);
    options.deploy = true;
    ASSERT_OK(f, boxcar_store_open(&options, &f->store, &f->err));
    assert_int_equal(boxcar_store_deployment(f->store)->applied, 0);
    assert_int_equal(boxcar_store_deployment(f->store)->mended, fixture_is_sqlite(f) ? 3 : 4);
    assert_int_equal(
        fixture_sql_number(f, "select count(*) from boxcar_outbox", "select count(*) from outbox"), 1);
    assert_int_equal(fixture_sql_number(
                         f,
                         "select count(*) from sqlite_schema where name in ('boxcar_lease_until', "
                         "'boxcar_inbox_on_remove')",
                         "select count(*) from (select from pg_class where relname = 'lease_until' and "
                         "relnamespace = current_schema()::regnamespace union all select from pg_proc "
                         "where proname = 'outbox_ack' and pronamespace = current_schema()::regnamespace) x"),
                     2);
    assert_true(ack(f, f->owner, take(f, f->owner, id)));
}

/* OBX-108: an empty table in its place would hide that its rows are gone. */
static void table_that_was_dropped_is_named(void **state) {
    struct fixture *f = *state;
    drop_in(f, "drop table boxcar_unique_key", "drop table unique_key");
    boxcar_store_options options = fixture_options(f);
    boxcar_store *store = NULL;
    options.deploy = true;
    ASSERT_FAILS(f, BOXCAR_E_STORE, boxcar_store_open(&options, &store, &f->err));
    assert_non_null(strstr(f->err.message,
                           fixture_is_sqlite(f) ? "the table boxcar_unique_key" : "the table unique_key"));
    assert_non_null(strstr(f->err.message, "backup"));
}

/* OBX-108: whatever is left of a store that has forgotten its version is not touched. */
static void store_without_its_version_is_named_and_left_as_it_is(void **state) {
    static const char *const LOSSES[][2] = {{"delete from boxcar_schema", "delete from store"},
                                            {"drop table boxcar_schema", "drop table store"}};
    struct fixture *f = *state;
    boxcar_store_options options = fixture_options(f);
    boxcar_store *store = NULL;
    enqueue(f, "t", "p");
    for (size_t i = 0; i < sizeof(LOSSES) / sizeof(LOSSES[0]); i++) {
        drop_in(f, LOSSES[i][0], LOSSES[i][1]);
        int64_t before = fixture_sql_number(f, "select count(*) from sqlite_schema", COUNT_OBJECTS);
        options.deploy = true;
        ASSERT_FAILS(f, BOXCAR_E_STORE, boxcar_store_open(&options, &store, &f->err));
        assert_non_null(strstr(f->err.message, fixture_is_sqlite(f) ? "boxcar_schema is missing or empty"
                                                                    : "the table store is missing or empty"));
        assert_non_null(strstr(f->err.message, "backup"));
        assert_int_equal(fixture_sql_number(f, "select count(*) from sqlite_schema", COUNT_OBJECTS), before);
        assert_int_equal(
            fixture_sql_number(f, "select count(*) from boxcar_message", "select count(*) from message"), 1);
    }
    options.deploy = false;
    ASSERT_FAILS(f, BOXCAR_E_STORE, boxcar_store_open(&options, &store, &f->err)); /* init would not help */
    assert_non_null(strstr(f->err.message, "backup"));
    assert_null(strstr(f->err.message, "boxcar init"));
}

static void store_has_an_id_that_all_its_handles_share(void **state) {
    struct fixture *f = *state;
    boxcar_store *other = fixture_open(f);
    assert_string_equal(boxcar_store_id(f->store), boxcar_store_id(other));
    assert_true(boxcar_store_id(other)[0] != '\0');
    assert_string_equal(boxcar_store_kind(other), fixture_is_sqlite(f) ? "sqlite" : "postgres");
    boxcar_store_close(other);
}

static const struct CMUnitTest TESTS[] = {
    BARE_TEST(opening_with_deployment_creates_everything),
    BARE_TEST(opening_without_deployment_creates_nothing),
    TEST(deploying_again_changes_nothing),
    BARE_TEST(eight_may_deploy_at_once),
    BARE_TEST(eight_may_deploy_into_an_empty_schema_at_once),
    TEST(one_of_eight_mends_what_is_missing),
    TEST(deploying_beside_running_clients_disturbs_none),
    TEST(newer_store_is_accepted_while_it_accepts_us),
    TEST(store_that_wants_newer_programs_is_refused),
    TEST(store_from_before_version_9_is_refused_and_left_as_it_is),
    TEST(store_of_an_older_version_is_brought_up_to_date_and_keeps_its_messages),
    TEST(upgrade_that_ended_early_is_finished_by_the_next),
    TEST(upgrade_gives_way_to_transactions_that_are_open),
    TEST(upgrade_that_cannot_begin_names_who_is_in_its_way),
    TEST(what_old_functions_call_says_that_the_schema_was_upgraded),
    TEST(deploying_again_makes_what_is_missing),
    TEST(table_that_was_dropped_is_named),
    TEST(store_without_its_version_is_named_and_left_as_it_is),
    TEST(store_has_an_id_that_all_its_handles_share),
};

const struct suite DEPLOY_SUITE = SUITE(TESTS);
