/* What somebody drops or changes in a file: deployment makes it again or names it, and the doctor names it
 * first. */
#include <stdio.h>
#include <string.h>

#include "findings.h"

static void exec(sqlite3 *db, const char *sql) {
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
}

static boxcar_status deploy_again(struct fixture *f, int *ret_mended) {
    boxcar_store_options options = fixture_options(f);
    boxcar_store *store = NULL;
    options.deploy = true;
    boxcar_status status = boxcar_store_open(&options, &store, &f->err);
    if (status == BOXCAR_OK)
        *ret_mended = boxcar_store_deployment(store)->mended;
    boxcar_store_close(store);
    return status;
}

static int deploy_and_count_mended(struct fixture *f) {
    int mended = -1;
    ASSERT_OK(f, deploy_again(f, &mended));
    return mended;
}

#define REMEMBER "create table remembered as select type, name, sql from sqlite_schema where sql is not null"
#define COUNT_DIFFERENCES                                                                                    \
    "select count(*) from (select type, name, sql from remembered except select type, name, sql from "       \
    "sqlite_schema)"

static void drop_every(struct fixture *f, const char *type) {
    sqlite3 *db = fixture_open_sqlite(f);
    sqlite3_stmt *stmt = NULL;
    char names[100][64];
    int count = 0;
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "select name from sqlite_schema where type = ?1 and sql is not null",
                                        -1, &stmt, NULL),
                     SQLITE_OK);
    sqlite3_bind_text(stmt, 1, type, -1, SQLITE_STATIC);
    while (sqlite3_step(stmt) == SQLITE_ROW && count < 100)
        snprintf(names[count++], sizeof(names[0]), "%s", (const char *)sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        char sql[100];
        snprintf(sql, sizeof(sql), "drop %s %.63s", type, names[i]);
        exec(db, sql);
    }
    sqlite3_close(db);
}

/* OBX-108: "if they do not already exist" */
static void every_object_that_was_dropped_is_made_again(void **state) {
    static const char *const TYPES[] = {"index", "view", "trigger"};
    struct fixture *f = *state;
    fixture_sql(f, REMEMBER, NULL);
    for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++) {
        drop_every(f, TYPES[i]);
        assert_found(f, "schema", BOXCAR_SEVERITY_PROBLEM, "missing: the ");
        assert_true(deploy_and_count_mended(f) > 0);
        assert_int_equal(fixture_sql_number(f, COUNT_DIFFERENCES, NULL), 0);
        assert_int_equal(deploy_and_count_mended(f), 0);
    }
    assert_found(f, "schema", BOXCAR_SEVERITY_OK, "as this program wants it");
}

/* The same name over something else: no claim would be quick, no key unique. */
static void object_that_was_changed_is_made_again(void **state) {
    struct fixture *f = *state;
    fixture_sql(f, REMEMBER, NULL);
    fixture_sql(f,
                "drop index boxcar_lease_until; create index boxcar_lease_until on boxcar_lease (owner); "
                "drop view boxcar_outbox; create view boxcar_outbox as select 1 as work_id; "
                "drop trigger boxcar_join_on_delete; create trigger boxcar_join_on_delete after delete on "
                "boxcar_join "
                "begin select 1; end",
                NULL);
    boxcar_finding_list *list = diagnose(f);
    assert_int_equal(
        count_findings(list, "schema", "not as this program makes it: the index boxcar_lease_until"), 1);
    assert_int_equal(count_findings(list, "schema", "the trigger boxcar_join_on_delete"), 1);
    boxcar_list_free(list);
    assert_int_equal(deploy_and_count_mended(f), 3);
    assert_int_equal(fixture_sql_number(f, COUNT_DIFFERENCES, NULL), 0);
}

/* Two rows with one key came while it was missing. */
static void key_that_cannot_be_made_again_is_named_with_what_to_do(void **state) {
    struct fixture *f = *state;
    int mended;
    fixture_sql(f,
                "drop index boxcar_unique_key_work; "
                "insert into boxcar_unique_key values (x'01', 1), (x'02', 1)",
                NULL);
    ASSERT_FAILS(f, BOXCAR_E_STORE, deploy_again(f, &mended));
    assert_non_null(
        strstr(f->err.message, "the index boxcar_unique_key_work is missing and cannot be made again"));
    assert_non_null(strstr(f->err.message, "remove what is in its way"));
    fixture_sql(f, "delete from boxcar_unique_key", NULL);
    assert_int_equal(deploy_and_count_mended(f), 1);
}

/* As it is after its rows were moved by hand. */
static void copy_without_constraints(struct fixture *f, const char *table) {
    char sql[300];
    snprintf(sql, sizeof(sql),
             "pragma legacy_alter_table = on; create table copy as select * from %s; drop table %s; "
             "alter table copy rename to %s",
             table, table, table);
    fixture_sql(f, sql, NULL);
}

static void assert_loss_is_named(struct fixture *f, const char *init_says, const char *doctor_says) {
    int mended;
    ASSERT_FAILS(f, BOXCAR_E_STORE, deploy_again(f, &mended));
    if (!strstr(f->err.message, init_says) || !strstr(f->err.message, "restore the file from a backup"))
        fail_msg("%s does not say: %s", f->err.message, init_says);
    boxcar_finding_list *list = diagnose(f);
    assert_int_equal(count_findings(list, "schema", doctor_says), 1);
    assert_int_equal(count_findings(list, "workers", "not checked"), 1);
    boxcar_list_free(list);
}

/* A table cannot be given its keys back without being written anew. */
static void table_without_its_keys_is_named(void **state) {
    struct fixture *f = *state;
    copy_without_constraints(f, "boxcar_tally");
    assert_loss_is_named(f, "the table boxcar_tally has lost its not null of column box",
                         "lost: the not null of column box of the table boxcar_tally");
    assert_loss_is_named(f, "boxcar_tally", "the primary key (box, topic) of the table boxcar_tally");
}

static void table_without_its_unique_key_or_its_check_is_named(void **state) {
    struct fixture *f = *state;
    copy_without_constraints(f, "boxcar_event_row");
    assert_loss_is_named(f, "boxcar_event_row", "the unique key (event_id) of the table boxcar_event_row");
    copy_without_constraints(f, "boxcar_removed");
    assert_loss_is_named(f, "boxcar_removed", "the check of the table boxcar_removed");
}

static void table_without_a_column_is_named(void **state) {
    struct fixture *f = *state;
    fixture_sql(f, "alter table boxcar_unique_key rename column work_id to id", NULL);
    assert_loss_is_named(f, "boxcar_unique_key has lost its column work_id",
                         "the column work_id of the table boxcar_unique_key");
}

/* OBX-108: an empty table in its place would hide that its rows are gone. */
static void lost_table_is_named_and_the_doctor_goes_on(void **state) {
    struct fixture *f = *state;
    fixture_sql(f, "drop table boxcar_lease", NULL);
    assert_loss_is_named(f, "has lost the table boxcar_lease", "lost: the table boxcar_lease");
}

/* More columns, tables and indexes than ours are nobody's business. */
static void additions_are_left_alone(void **state) {
    struct fixture *f = *state;
    fixture_sql(f,
                "create table mine (a); create index boxcar_message_mine on boxcar_message (topic); "
                "alter table boxcar_message add column mine text",
                NULL);
    assert_found(f, "schema", BOXCAR_SEVERITY_OK, "as this program wants it");
    assert_int_equal(deploy_and_count_mended(f), 0);
    assert_int_equal(
        fixture_sql_number(f, "select count(*) from sqlite_schema where name = 'boxcar_message_mine'", NULL),
        1);
}

static const struct CMUnitTest TESTS[] = {
    TEST(every_object_that_was_dropped_is_made_again),
    TEST(object_that_was_changed_is_made_again),
    TEST(key_that_cannot_be_made_again_is_named_with_what_to_do),
    TEST(table_without_its_keys_is_named),
    TEST(table_without_its_unique_key_or_its_check_is_named),
    TEST(table_without_a_column_is_named),
    TEST(lost_table_is_named_and_the_doctor_goes_on),
    TEST(additions_are_left_alone),
};

const struct suite MEND_SQLITE_SUITE = SUITE(TESTS);
