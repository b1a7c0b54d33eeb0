/* What somebody drops or changes in a schema: deployment makes it again or names it, and the doctor names it
 * first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "findings.h"
#include "pg.h"
#include "store/postgres/deploy/objects.h"
#include "store/postgres/deploy/steps.h"

/* Everything in the schema that deployment can make again, as the server describes it. */
#define EVERYTHING                                                                                           \
    "select 'function ' || p.oid::regprocedure || p.prosrc || p.provolatile::text || p.prosecdef || "        \
    "p.proisstrict ||"                                                                                       \
    " coalesce(p.proconfig::text, '') || (p.proacl is null) as what from pg_proc p"                          \
    " where p.pronamespace = current_schema()::regnamespace"                                                 \
    " union all select 'view ' || c.relname || pg_get_viewdef(c.oid) from pg_class c"                        \
    " where c.relnamespace = current_schema()::regnamespace and c.relkind = 'v'"                             \
    " union all select 'index ' || pg_get_indexdef(c.oid) from pg_class c"                                   \
    " where c.relnamespace = current_schema()::regnamespace and c.relkind = 'i'"                             \
    " union all select 'constraint ' || k.conrelid::regclass || k.conname || pg_get_constraintdef(k.oid)"    \
    " from pg_constraint k where k.connamespace = current_schema()::regnamespace"                            \
    " union all select 'trigger ' || pg_get_triggerdef(t.oid) from pg_trigger t join pg_class c on c.oid = " \
    "t.tgrelid"                                                                                              \
    " where c.relnamespace = current_schema()::regnamespace and not t.tgisinternal"

/* Statements that drop every object of a kind: (what to drop). */
static const struct {
    const char *kind;
    const char *statements;
} KINDS[] = {
    {"view", "select format('drop view if exists %I cascade', relname) from pg_class "
             "where relnamespace = current_schema()::regnamespace and relkind = 'v'"},
    {"function", "select format('drop function if exists %s cascade', oid::regprocedure) from pg_proc "
                 "where pronamespace = current_schema()::regnamespace"},
    {"index",
     "select format('drop index %I', c.relname) from pg_class c where c.relnamespace = "
     "current_schema()::regnamespace and c.relkind = 'i' and not exists (select from pg_constraint k "
     "where k.conindid = c.oid)"},
    {"constraint",
     "select format('alter table %s drop constraint %I', conrelid::regclass, conname) from pg_constraint "
     "where connamespace = current_schema()::regnamespace and contype in ('p', 'u', 'c', 'f', 'x')"},
    {"trigger",
     "select format('drop trigger %I on %s', t.tgname, t.tgrelid::regclass) from pg_trigger t join pg_class "
     "c "
     "on c.oid = t.tgrelid where c.relnamespace = current_schema()::regnamespace and not t.tgisinternal"},
};

static boxcar_status deploy_again(struct fixture *f, boxcar_deployment *ret_deployment) {
    boxcar_store_options options = fixture_options(f);
    boxcar_store *store = NULL;
    options.deploy = true;
    boxcar_status status = boxcar_store_open(&options, &store, &f->err);
    if (status == BOXCAR_OK)
        *ret_deployment = *boxcar_store_deployment(store);
    boxcar_store_close(store);
    return status;
}

static int deploy_and_count_mended(struct fixture *f) {
    boxcar_deployment deployment = {0};
    ASSERT_OK(f, deploy_again(f, &deployment));
    assert_int_equal(deployment.applied, 0);
    return deployment.mended;
}

static void assert_as_remembered(PGconn *conn, const char *after) {
    PGresult *rows = PQexec(conn, "(" EVERYTHING " except select what from remembered) union all "
                                  "(select what from remembered except (" EVERYTHING ")) limit 1");
    assert_int_equal(PQresultStatus(rows), PGRES_TUPLES_OK);
    if (PQntuples(rows) > 0)
        fail_msg("after %s: %s", after, PQgetvalue(rows, 0, 0));
    PQclear(rows);
}

static void drop_all(PGconn *conn, const char *statements) {
    PGresult *rows = PQexec(conn, statements);
    assert_int_equal(PQresultStatus(rows), PGRES_TUPLES_OK);
    assert_true(PQntuples(rows) > 0);
    pg_exec(conn, "set client_min_messages = warning");
    for (int i = 0; i < PQntuples(rows); i++)
        pg_exec(conn, "%s", PQgetvalue(rows, i, 0));
    PQclear(rows);
}

/* OBX-108: "if they do not already exist" */
static void every_object_that_was_dropped_is_made_again(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "create temporary table remembered as " EVERYTHING);
    boxcar_store_close(f->store);
    f->store = NULL;
    for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++) {
        drop_all(conn, KINDS[i].statements);
        assert_true(deploy_and_count_mended(f) > 0);
        assert_as_remembered(conn, KINDS[i].kind);
        assert_int_equal(deploy_and_count_mended(f), 0);
    }
    PQfinish(conn);
    f->store = fixture_open(f);
    assert_true(ack(f, f->owner, take(f, f->owner, enqueue(f, "t", "p").work_id)));
}

/* OBX-108: an empty table in its place would hide that its rows are gone. */
static void every_table_that_is_lost_is_named(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    PGresult *rows =
        PQexec(conn, "select relname from pg_class where relnamespace = current_schema()::regnamespace "
                     "and relkind = 'r' and relname <> 'store'");
    assert_true(PQntuples(rows) > 25);
    for (int i = 0; i < PQntuples(rows); i++) {
        boxcar_deployment deployment;
        char named[100];
        snprintf(named, sizeof(named), "lost the table %s: restore it from a backup", PQgetvalue(rows, i, 0));
        pg_exec(conn, "alter table %s rename to somewhere_else", PQgetvalue(rows, i, 0));
        ASSERT_FAILS(f, BOXCAR_E_STORE, deploy_again(f, &deployment));
        assert_non_null(strstr(f->err.message, named));
        pg_exec(conn, "alter table somewhere_else rename to %s", PQgetvalue(rows, i, 0));
    }
    PQclear(rows);
    PQfinish(conn);
    assert_int_equal(deploy_and_count_mended(f), 0);
}

/* Each function with one line more, and as its owner's enemy would like it. */
#define CHANGE_ALL                                                                                           \
    "do $do$ declare f record; begin for f in select pg_get_functiondef(p.oid) as text, p.prosrc from "      \
    "pg_proc p "                                                                                             \
    "where p.pronamespace = current_schema()::regnamespace loop "                                            \
    "execute replace(f.text, f.prosrc, f.prosrc || E'\\n-- changed\\n'); end loop; end $do$"

static void every_function_that_was_changed_is_made_again(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    int64_t all = pg_number(conn, "select count(distinct proname) from pg_proc where pronamespace = "
                                  "current_schema()::regnamespace");
    pg_exec(conn, "create temporary table remembered as " EVERYTHING);
    pg_exec(conn, CHANGE_ALL);
    assert_int_equal(deploy_and_count_mended(f), all);
    assert_as_remembered(conn, "a change");
    assert_int_equal(deploy_and_count_mended(f), 0);
    PQfinish(conn);
}

/* The same body with other rights is another function. */
static void function_with_other_attributes_is_made_again(void **state) {
    static const char *const CHANGES[] = {
        "alter function outbox_ack security invoker",
        "alter function outbox_ack reset search_path",
        "alter function outbox_ack reset all",
        "alter function outbox_ack immutable",
        "do $do$ declare t text := pg_get_functiondef('outbox_ack'::regproc); begin "
        "drop function outbox_ack; execute t; end $do$", /* everybody may call it */
    };
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "create temporary table remembered as " EVERYTHING);
    for (size_t i = 0; i < sizeof(CHANGES) / sizeof(CHANGES[0]); i++) {
        pg_exec(conn, "%s", CHANGES[i]);
        assert_found(f, "schema", BOXCAR_SEVERITY_WARNING, "the function outbox_ack");
        assert_int_equal(deploy_and_count_mended(f), 1);
        assert_as_remembered(conn, CHANGES[i]);
    }
    assert_found(f, "schema", BOXCAR_SEVERITY_OK, "as this program wants it");
    PQfinish(conn);
}

static void function_that_cannot_be_put_back_is_named_with_what_to_do(void **state) {
    struct fixture *f = *state;
    boxcar_deployment deployment;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "drop function _claim_blockers(smallint)");
    pg_exec(conn, "create function _claim_blockers(smallint) returns int language sql as 'select 1'");
    ASSERT_FAILS(f, BOXCAR_E_STORE, deploy_again(f, &deployment));
    assert_non_null(strstr(f->err.message, "functions/admin/doctor/_claim_blockers.sql"));
    assert_non_null(strstr(f->err.message, "drop that function, then run `boxcar init` again"));
    pg_exec(conn, "drop function _claim_blockers(smallint)");
    assert_int_equal(deploy_and_count_mended(f), 1);
    PQfinish(conn);
}

/* Two rows with one key came while it was missing. */
static void key_that_cannot_be_made_again_is_named_with_what_to_do(void **state) {
    struct fixture *f = *state;
    boxcar_deployment deployment;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "alter table tally drop constraint tally_pkey");
    pg_exec(conn, "insert into tally values (0, 's3cret', 1), (0, 's3cret', 2)");
    ASSERT_FAILS(f, BOXCAR_E_STORE, deploy_again(f, &deployment));
    assert_non_null(strstr(f->err.message, "the constraint tally_pkey is missing and cannot be made again"));
    assert_non_null(strstr(f->err.message, "remove what is in its way"));
    assert_null(strstr(f->err.message, "s3cret"));
    pg_exec(conn, "delete from tally where done = 2");
    assert_int_equal(deploy_and_count_mended(f), 1);
    PQfinish(conn);
}

static const boxcar_finding *finding_with(const boxcar_finding_list *list, const char *part) {
    for (size_t i = 0; i < list->count; i++)
        if (has_text(list->items[i]->text, part))
            return list->items[i];
    fail_msg("nothing says \"%s\"", part);
    return NULL;
}

static void doctor_names_what_init_makes_again(void **state) {
    struct fixture *f = *state;
    fixture_sql(f, NULL,
                "drop index lease_until; alter table message drop constraint message_limits; "
                "drop trigger end_note_at_end on end_note");
    boxcar_finding_list *list = diagnose(f);
    const boxcar_finding *missing = finding_with(
        list, "missing: the index lease_until, the trigger end_note_at_end, the constraint message_limits");
    assert_true(has_text(missing->check, "schema") && missing->severity == BOXCAR_SEVERITY_PROBLEM);
    assert_true(has_text(missing->remedy, "boxcar init"));
    assert_int_equal(count_findings(list, "workers", "no worker is running"), 1); /* the rest was looked at */
    boxcar_list_free(list);
    assert_int_equal(deploy_and_count_mended(f), 3);
    assert_found(f, "schema", BOXCAR_SEVERITY_OK, "as this program wants it");
}

/* Also when what is missing is what it looks with. */
static void doctor_names_views_and_functions_that_are_missing(void **state) {
    struct fixture *f = *state;
    fixture_sql(f, NULL,
                "drop view outbox_turn; drop view event; drop function _checkup, _stats, outbox_claim");
    boxcar_finding_list *list = diagnose(f);
    const boxcar_finding *missing = finding_with(list, "missing: the view outbox_turn");
    assert_true(has_text(missing->text, "the view event") &&
                has_text(missing->text, "the function _checkup") &&
                has_text(missing->text, "the function _stats") &&
                has_text(missing->text, "the function outbox_claim"));
    assert_true(has_text(missing->remedy, "boxcar init"));
    assert_int_equal(count_findings(list, "workers", "not checked"), 1);
    boxcar_list_free(list);
    assert_int_equal(deploy_and_count_mended(f), 5);
    assert_found(f, "schema", BOXCAR_SEVERITY_OK, "as this program wants it");
}

static bool begins_with(boxcar_str text, const char *part) {
    return text.len >= strlen(part) && memcmp(text.data, part, strlen(part)) == 0;
}

/* Init would not help, so the doctor does not send anybody there. */
static void doctor_names_a_lost_table_and_sends_nobody_to_init(void **state) {
    struct fixture *f = *state;
    fixture_sql(f, NULL, "drop table unique_key");
    boxcar_finding_list *list = diagnose(f);
    const boxcar_finding *lost = finding_with(list, "lost: the table unique_key");
    assert_int_equal(lost->severity, BOXCAR_SEVERITY_PROBLEM);
    assert_true(has_text(lost->remedy, "backup"));
    for (size_t i = 0; i < list->count; i++)
        assert_false(begins_with(list->items[i]->remedy, "boxcar init"));
    assert_true(has_text(finding_with(list, "missing: the constraint unique_key_pkey")->remedy,
                         "first restore the lost"));
    boxcar_list_free(list);
}

static void doctor_shows_the_first_of_many(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    drop_all(conn, KINDS[2].statements);
    PQfinish(conn);
    assert_found(f, "schema", BOXCAR_SEVERITY_PROBLEM, "the index message_message_id");
    assert_found(f, "schema", BOXCAR_SEVERITY_PROBLEM, " more");
}

/* The catalogs are everybody's to read. */
static void viewer_sees_what_is_missing(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    char role[100], url[600];
    snprintf(role, sizeof(role), "%s_viewer", f->schema);
    snprintf(url, sizeof(url), "postgres://%s:pw@%s", role, strchr(getenv("BOXCAR_TEST_POSTGRES"), '@') + 1);
    pg_exec(conn, "create role %s login password 'pw'", role);
    pg_exec(conn, "select grant_access('%s', 'viewer')", role);
    pg_exec(conn, "drop index lease_until");
    pg_exec(conn, "alter function outbox_ack immutable");
    boxcar_store_options options = fixture_options(f);
    boxcar_store *store = NULL;
    options.url = boxcar_str_of(url);
    ASSERT_OK(f, boxcar_store_open(&options, &store, &f->err));
    assert_found_with(f, store, "schema", BOXCAR_SEVERITY_PROBLEM, "missing: the index lease_until");
    boxcar_finding_list *list = diagnose_with(f, store);
    assert_int_equal(finding_with(list, "the function outbox_ack")->severity, BOXCAR_SEVERITY_WARNING);
    boxcar_list_free(list);
    boxcar_store_close(store);
    pg_exec(conn, "drop owned by %s", role);
    pg_exec(conn, "drop role %s", role);
    PQfinish(conn);
}

/* What a program opens a store with: it says what is missing, instead of that nothing is there. */
static void function_that_opening_needs_is_named_and_made_again(void **state) {
    struct fixture *f = *state;
    boxcar_store_options options = fixture_options(f);
    boxcar_store *store = NULL;
    boxcar_store_close(f->store);
    f->store = NULL;
    fixture_sql(f, NULL, "drop function _store_info");
    ASSERT_FAILS(f, BOXCAR_E_NOT_DEPLOYED, boxcar_store_open(&options, &store, &f->err));
    assert_non_null(strstr(f->err.message, "lacks the function _store_info: run `boxcar init`"));
    options.deploy = true;
    ASSERT_OK(f, boxcar_store_open(&options, &f->store, &f->err));
    assert_int_equal(boxcar_store_deployment(f->store)->mended, 1);
}

/* The server calls them an empty query, which is no failure. Migrations are run by this function. */
static void migration_of_only_comments_is_applied(void **state) {
    static const char *const TEXTS[] = {"-- Nothing to do for this store.\n\n-- Counters.\n", "/* nothing */",
                                        "\n", ""};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++)
        ASSERT_OK(f, pg_deploy_run(pg_store_of(f->store), TEXTS[i], &f->err));
    assert_int_equal(deploy_and_count_mended(f), 0);
}

static const struct CMUnitTest TESTS[] = {
    TEST(every_object_that_was_dropped_is_made_again),
    TEST(every_table_that_is_lost_is_named),
    TEST(every_function_that_was_changed_is_made_again),
    TEST(function_with_other_attributes_is_made_again),
    TEST(function_that_cannot_be_put_back_is_named_with_what_to_do),
    TEST(key_that_cannot_be_made_again_is_named_with_what_to_do),
    TEST(doctor_names_what_init_makes_again),
    TEST(doctor_names_views_and_functions_that_are_missing),
    TEST(doctor_names_a_lost_table_and_sends_nobody_to_init),
    TEST(doctor_shows_the_first_of_many),
    TEST(function_that_opening_needs_is_named_and_made_again),
    TEST(migration_of_only_comments_is_applied),
    TEST(viewer_sees_what_is_missing),
};

const struct suite MEND_POSTGRES_SUITE = SUITE(TESTS);
