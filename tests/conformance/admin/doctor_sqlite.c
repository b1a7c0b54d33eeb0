/* The doctor on a file: what only SQLite has. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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
    assert_found(f, "held_snapshot", BOXCAR_SEVERITY_WARNING, "a process keeps a read transaction open");
    sqlite3_close(reader);
}

/* Another program that reads, and how its pid is known: its lock on the file shows it. */
static pid_t start_reader(struct fixture *f) {
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        sqlite3 *db = NULL;
        const char *path = f->url + strlen("sqlite:");
        bool reads =
            sqlite3_open(path, &db) == SQLITE_OK &&
            sqlite3_exec(db, "begin; select count(*) from boxcar_message", NULL, NULL, NULL) == SQLITE_OK;
        (void)!write(ready[1], reads ? "y" : "n", 1);
        pause();
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void process_that_keeps_the_wal_growing_is_named(void **state) {
    struct fixture *f = *state;
    char process[64], remedy[64];
    pid_t reader = start_reader(f);
    fixture_sql(f, "create table junk as select zeroblob(70000000) as b", NULL);
    boxcar_finding_list *list = diagnose(f);
    const boxcar_finding *finding = only_finding(list, "held_snapshot");
    snprintf(process, sizeof(process), "process %d (conformance) keeps a read transaction open", (int)reader);
    snprintf(remedy, sizeof(remedy), "kill %d", (int)reader);
    kill(reader, SIGKILL);
    waitpid(reader, NULL, 0);
    assert_int_equal(finding->severity, BOXCAR_SEVERITY_WARNING);
    if (!has_text(finding->text, process) || !has_text(finding->remedy, remedy))
        fail_msg("%s -> %s", finding->text.data, finding->remedy.data);
    boxcar_list_free(list);
}

/* BX-020 */
static void write_lock_that_somebody_keeps_is_a_problem(void **state) {
    struct fixture *f = *state;
    char process[64];
    sqlite3 *holder = fixture_open_sqlite(f);
    assert_found(f, "claim", BOXCAR_SEVERITY_OK, "can be written");
    exec(holder, "begin immediate");
    snprintf(process, sizeof(process), "process %d (", (int)getpid());
    assert_found(f, "claim", BOXCAR_SEVERITY_PROBLEM, "holds the write lock of the file");
    assert_found(f, "claim", BOXCAR_SEVERITY_PROBLEM, process);
    exec(holder, "rollback");
    assert_found(f, "claim", BOXCAR_SEVERITY_OK, "can be written");
    enqueue(f, "t", "p"); /* nothing was left open */
    sqlite3_close(holder);
}

static void lock_is_not_tried_inside_of_a_transaction(void **state) {
    struct fixture *f = *state;
    sqlite3 *db = fixture_open_sqlite(f);
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_store *store = NULL;
    ASSERT_OK(f, boxcar_store_borrow_sqlite(db, &options, &store, &f->err));
    assert_found_with(f, store, "claim", BOXCAR_SEVERITY_OK, "can be written");
    exec(db, "begin immediate");
    assert_found_with(f, store, "claim", BOXCAR_SEVERITY_OK, "not tried");
    assert_false(sqlite3_get_autocommit(db));
    exec(db, "rollback");
    boxcar_store_close(store);
    sqlite3_close(db);
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
    boxcar_store_close(f->store); /* the mode can be changed only while no other connection has the file */
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
    boxcar_list_free(list);
}

/* The caller's transaction is left as it was. */
static void diagnosis_inside_a_transaction_of_the_program_does_not_end_it(void **state) {
    struct fixture *f = *state;
    sqlite3 *db = fixture_open_sqlite(f);
    boxcar_store *store = borrow(f, db);
    exec(db, "begin immediate");
    boxcar_list_free(diagnose_with(f, store));
    assert_false(sqlite3_get_autocommit(db));
    exec(db, "commit");
    boxcar_store_close(store);
    sqlite3_close(db);
}

/* SQLite takes any type in any column. What a foreign hand has left there is named, and stops nobody. */
static void row_of_a_wrong_type_is_named_and_stops_nobody(void **state) {
    struct fixture *f = *state;
    boxcar_new_message expiring = new_message("t", "p"); /* so that it is parked at once */
    expiring.stream = BOXCAR_STR("a");
    expiring.ttl_ms = 3600000;
    boxcar_work_id bad = enqueue_message(f, &expiring).work_id;
    boxcar_work_id good = enqueue_streamed(f, "b", "p").work_id;
    boxcar_stream_filter filter = BOXCAR_STREAM_FILTER_INIT;
    boxcar_stream_list *list = NULL;
    char sql[160];
    assert_found(f, "rows", BOXCAR_SEVERITY_OK, "types");
    snprintf(sql, sizeof(sql), "update boxcar_parked set stream = x'00ff' where work_id = %lld",
             (long long)bad.value);
    fixture_sql(f, sql, NULL);
    assert_found(f, "rows", BOXCAR_SEVERITY_PROBLEM, "boxcar_parked: 1 of its rows");
    ASSERT_OK(f, boxcar_stream_page(f->store, &filter, &list,
                                    &f->err)); /* it once looked for the next key for ever */
    assert_int_equal(list->count, 1);
    assert_text(list->items[0]->stream, "b");
    boxcar_list_free(list);
    struct taken taken[2];
    assert_int_equal(take_all(f, f->owner, 30000, taken, 2), 2);
    assert_true(ack(f, f->owner, taken[0]) && ack(f, f->owner, taken[1]));
    assert_status(f, good, BOXCAR_DONE);
}

/* Every blob is an id, whatever its column is called. */
static void id_of_a_wrong_length_is_named(void **state) {
    struct fixture *f = *state;
    enqueue(f, "t", "p");
    fixture_sql(f, "update boxcar_message set unique_key = x'010203'", NULL);
    assert_found(f, "rows", BOXCAR_SEVERITY_PROBLEM, "boxcar_message: 1 of its rows");
}

static void text_that_is_not_utf8_is_named(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    char named[120];
    enqueue(f, "t", "p");
    fixture_sql(f, "update boxcar_message set correlation_id = 'gr\xc3\xbc\xc3\x9f'", NULL);
    assert_found(f, "rows", BOXCAR_SEVERITY_OK, "UTF-8");
    fixture_sql(f, "update boxcar_message set correlation_id = cast(x'ff' as text)", NULL);
    snprintf(
        named, sizeof(named),
        "boxcar_message: 2 of its rows are damaged, the first is work_id %lld: correlation_id is not UTF-8",
        (long long)id.value);
    assert_found(f, "rows", BOXCAR_SEVERITY_PROBLEM, named);
    fixture_sql(f,
                "insert into boxcar_stream_halt (box, stream, halted_at, halted_by) values (0, cast(x'ff' as "
                "text), 1, 1)",
                NULL);
    assert_found(f, "rows", BOXCAR_SEVERITY_PROBLEM, "the first is box 0, stream '?': stream is not UTF-8");
}

/* Maintenance once removed it by its id, found it again, and did not end. */
static void worker_whose_id_is_none_is_removed(void **state) {
    struct fixture *f = *state;
    boxcar_maintenance maintenance = BOXCAR_MAINTENANCE_INIT;
    fixture_sql(f,
                "insert into boxcar_instance_row (instance_id, box, host, pid, concurrency, topics, "
                "started_at, seen_at) "
                "values (x'010203', 0, 'h', 1, 1, '[]', 1, 1), ('text', x'00', 'h', 1, 1, '[]', 1, 1)",
                NULL);
    assert_found(f, "rows", BOXCAR_SEVERITY_PROBLEM, "boxcar_instance_row: 2 of its rows");
    ASSERT_OK(f, boxcar_maintenance_run(f->store, &maintenance, &f->err));
    assert_false(maintenance.more);
    assert_found(f, "rows", BOXCAR_SEVERITY_OK, "types");
}

static const struct CMUnitTest TESTS[] = {
    TEST(row_of_a_wrong_type_is_named_and_stops_nobody),
    TEST(id_of_a_wrong_length_is_named),
    TEST(text_that_is_not_utf8_is_named),
    TEST(worker_whose_id_is_none_is_removed),
    TEST(wal_that_a_reader_keeps_growing_is_a_warning),
    TEST(process_that_keeps_the_wal_growing_is_named),
    TEST(write_lock_that_somebody_keeps_is_a_problem),
    TEST(lock_is_not_tried_inside_of_a_transaction),
    TEST(file_with_many_free_pages_is_noted),
    TEST(careless_connection_of_a_program_is_a_warning),
    TEST(journal_that_does_not_survive_a_crash_is_a_problem),
    TEST(free_space_of_the_disk_is_told),
    TEST(diagnosis_inside_a_transaction_of_the_program_does_not_end_it),
};

const struct suite DOCTOR_SQLITE_SUITE = SUITE(TESTS);
