/* The doctor on a file: what only SQLite has. */
#include "findings.h"

static void exec(sqlite3 *db, const char *sql) {
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
}

static void wal_that_a_reader_keeps_growing_is_a_warning(void **state) {
    struct fixture *f = *state;
    assert_found(f, "held_snapshot", BOXCAR_SEVERITY_OK, "copied back");
    sqlite3 *reader = fixture_open_sqlite(f);
    exec(reader, "begin; select count(*) from boxcar_message");
    fixture_sql(f, "create table junk as select zeroblob(70000000) as b", NULL);
    assert_found(f, "held_snapshot", BOXCAR_SEVERITY_WARNING, "somebody keeps a read transaction open");
    sqlite3_close(reader);
}

static void file_with_many_free_pages_is_noted(void **state) {
    struct fixture *f = *state;
    assert_found(f, "bloat", BOXCAR_SEVERITY_OK, "free for new messages");
    fixture_sql(f, "create table junk as select zeroblob(20000000) as b; drop table junk", NULL);
    assert_found(f, "bloat", BOXCAR_SEVERITY_NOTE, "will use them");
    fixture_sql(f, "vacuum", NULL);
    assert_found(f, "bloat", BOXCAR_SEVERITY_OK, "free for new messages");
}

static boxcar_store *borrow(struct fixture *f, sqlite3 *db) {
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_store *store = NULL;
    ASSERT_OK(f, boxcar_store_borrow_sqlite(db, &options, &store, &f->err));
    return store;
}

/* BX-001 */
static void careless_connection_of_a_program_is_a_warning(void **state) {
    struct fixture *f = *state;
    sqlite3 *db = fixture_open_sqlite(f);
    boxcar_store *store = borrow(f, db);
    exec(db, "pragma synchronous = full");
    assert_found_with(f, store, "connection", BOXCAR_SEVERITY_OK, "synchronous full");
    exec(db, "pragma synchronous = off");
    assert_found_with(f, store, "connection", BOXCAR_SEVERITY_WARNING, "a power cut");
    boxcar_store_close(store);
    sqlite3_close(db);
}

static void journal_that_does_not_survive_a_crash_is_a_problem(void **state) {
    struct fixture *f = *state;
    boxcar_store_close(f->store); /* the mode can be changed by whoever has the file for himself */
    f->store = NULL;
    sqlite3 *db = fixture_open_sqlite(f);
    exec(db, "pragma journal_mode = delete");
    boxcar_store *store = borrow(f, db);
    assert_found_with(f, store, "connection", BOXCAR_SEVERITY_NOTE, "journal mode delete");
    exec(db, "pragma journal_mode = memory");
    assert_found_with(f, store, "connection", BOXCAR_SEVERITY_PROBLEM, "journal mode memory");
    boxcar_store_close(store);
    sqlite3_close(db);
}

static void free_space_of_the_disk_is_told(void **state) {
    struct fixture *f = *state;
    boxcar_finding_list *list = diagnose(f);
    assert_true(has_text(only_finding(list, "disk")->text, "free where the file is"));
    boxcar_finding_list_free(list);
}

/* The caller's transaction is left as it was. */
static void diagnosis_inside_a_transaction_of_the_program_does_not_end_it(void **state) {
    struct fixture *f = *state;
    sqlite3 *db = fixture_open_sqlite(f);
    boxcar_store *store = borrow(f, db);
    exec(db, "begin immediate");
    boxcar_finding_list_free(diagnose_with(f, store));
    assert_false(sqlite3_get_autocommit(db));
    exec(db, "commit");
    boxcar_store_close(store);
    sqlite3_close(db);
}

static const struct CMUnitTest TESTS[] = {
    TEST(wal_that_a_reader_keeps_growing_is_a_warning),
    TEST(file_with_many_free_pages_is_noted),
    TEST(careless_connection_of_a_program_is_a_warning),
    TEST(journal_that_does_not_survive_a_crash_is_a_problem),
    TEST(free_space_of_the_disk_is_told),
    TEST(diagnosis_inside_a_transaction_of_the_program_does_not_end_it),
};

const struct suite DOCTOR_SQLITE_SUITE = SUITE("doctor_sqlite", TESTS, ON_SQLITE);
