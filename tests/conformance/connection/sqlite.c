/* What only SQLite has: a file, one writer, a disk that fills up. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "borrow.h"
#include "conformance.h"
#include "seam.h"

static void store_uses_the_write_ahead_log(void **state) {
    struct fixture *f = *state;
    enqueue(f, "t", "p");
    assert_int_equal(
        fixture_sql_number(f, "select count(*) from pragma_journal_mode where journal_mode = 'wal'", NULL),
        1);
}

/* OBX-108, OBX-110 */
static void deployment_leaves_other_tables_in_the_file_alone(void **state) {
    struct fixture *f = *state;
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(f->url + strlen("sqlite:"), &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db, "create table message (n); insert into message values (7)", NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    boxcar_store_options options = fixture_options(f);
    options.deploy = true;
    options.durability = BOXCAR_DURABILITY_NORMAL;
    ASSERT_OK(f, boxcar_store_open(&options, &f->store, &f->err));
    take(f, f->owner, enqueue(f, "t", "p").work_id);
    assert_int_equal(fixture_sql_number(f, "select n from message", NULL), 7);
    assert_int_equal(fixture_sql_number(f,
                                        "select count(*) from sqlite_master where name not like 'boxcar%' "
                                        "and name not like 'sqlite%'",
                                        NULL),
                     1);
}

/* OBX-099 */
static void busy_file_is_unavailable_after_the_timeout_and_nothing_changed(void **state) {
    struct fixture *f = *state;
    boxcar_store_close(f->store);
    boxcar_store_options options = fixture_options(f);
    options.busy_timeout_ms = 100;
    ASSERT_OK(f, boxcar_store_open(&options, &f->store, &f->err));
    sqlite3 *writer = fixture_open_sqlite(f);
    assert_int_equal(sqlite3_exec(writer, "begin immediate", NULL, NULL, NULL), SQLITE_OK);
    boxcar_new_message message = new_message("t", "p");
    boxcar_enqueued enqueued;
    ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE,
                 boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, &enqueued, &f->err));
    assert_true(f->err.retryable);
    assert_int_equal(stats_of(f).ready, 0); /* readers do not wait */
    sqlite3_exec(writer, "rollback", NULL, NULL, NULL);
    sqlite3_close(writer);
    take(f, f->owner, enqueue_message(f, &message).work_id);
}

/* Nothing shows that the other call waits already: long enough for it, and it must pass if not. */
static void *let_go_later(void *context) {
    pause_ms(150);
    sqlite3_exec(context, "commit", NULL, NULL, NULL);
    return NULL;
}

/* OBX-099, OBX-100 */
static void call_waits_for_another_writer(void **state) {
    struct fixture *f = *state;
    sqlite3 *writer = fixture_open_sqlite(f);
    assert_int_equal(sqlite3_exec(writer, "begin immediate", NULL, NULL, NULL), SQLITE_OK);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, let_go_later, writer), 0);
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    pthread_join(thread, NULL);
    sqlite3_close(writer);
    take(f, f->owner, id);
}

/* BX-011 */
static void read_only_connection_reads_and_refuses_to_write(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open_v2(f->url + strlen("sqlite:"), &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    boxcar_store *own = f->store;
    ASSERT_OK(f, boxcar_store_borrow_sqlite(db, NULL, &f->store, &f->err));
    assert_status(f, id, BOXCAR_READY);
    boxcar_new_message message = new_message("t", "p");
    boxcar_enqueued enqueued;
    ASSERT_FAILS(f, BOXCAR_E_READ_ONLY,
                 boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, &enqueued, &f->err));
    boxcar_store_close(f->store);
    sqlite3_close(db);
    f->store = own;
    take(f, f->owner, id);
}

/* Enqueues until the file may not grow any more; returns how many were stored. */
static int64_t fill(struct fixture *f, boxcar_store *store) {
    char payload[3001];
    memset(payload, 'x', 3000);
    payload[3000] = '\0';
    boxcar_new_message message = new_message("t", payload);
    boxcar_enqueued enqueued;
    for (int64_t count = 0; count < 10000; count++) {
        boxcar_status status = boxcar_enqueue(store, BOXCAR_OUTBOX, &message, &enqueued, &f->err);
        if (status == BOXCAR_OK)
            continue;
        assert_string_equal(boxcar_status_name(status), "full");
        return count;
    }
    fail_msg("the file never filled up");
    return 0;
}

/* BX-001, OBX-097 */
static void full_disk_is_a_clear_error_and_loses_nothing(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    int64_t pages = fixture_sql_number(f, "select page_count from pragma_page_count", NULL);
    char limit[64];
    snprintf(limit, sizeof(limit), "pragma max_page_count = %lld", (long long)pages + 30);
    borrowed_exec(&b, limit);
    int64_t stored = fill(f, b.store);
    assert_true(stored > 0);
    assert_false(borrowed_in_transaction(&b));
    assert_int_equal(stats_of(f).ready, stored);
    assert_int_equal(audit_lost(f), 0);
    borrowed_exec(&b, "pragma max_page_count = 1000000");
    borrowed_enqueue(f, &b, "there is room again");
    struct taken *taken = calloc((size_t)stored + 5, sizeof(*taken));
    assert_int_equal(take_all(f, f->owner, 30000, taken, (size_t)stored + 5), stored + 1);
    free(taken);
    borrowed_close(&b);
}

/* OBX-003, OBX-097 */
static void call_that_fails_in_the_callers_transaction_undoes_only_itself(void **state) {
    struct fixture *f = *state;
    fixture_sql(f,
                "create trigger no before insert on boxcar_message when new.topic = 'forbidden' "
                "begin select raise(abort, 'not today'); end",
                NULL);
    struct borrowed b = borrow(f);
    borrowed_exec(&b, "begin");
    borrowed_write_effect(f, &b);
    boxcar_enqueued kept = borrowed_enqueue(f, &b, "p");
    boxcar_new_message messages[2] = {new_message("t", "with it"), new_message("forbidden", "p")};
    ASSERT_FAILS(f, BOXCAR_E_STORE, boxcar_enqueue_many(b.store, BOXCAR_OUTBOX, messages, 2, NULL, &f->err));
    assert_true(borrowed_in_transaction(&b));
    borrowed_exec(&b, "commit");
    assert_int_equal(count_effects(f), 1);
    take(f, f->owner, kept.work_id);
    assert_nothing_claimable(f);
    borrowed_close(&b);
}

static int count_scanned(unsigned event, void *context, void *statement, void *elapsed) {
    (void)event;
    (void)elapsed;
    *(int64_t *)context += sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_FULLSCAN_STEP, 1);
    return 0;
}

/* OBX-119 */
static void claim_and_ack_scan_no_table_however_much_is_done(void **state) {
    struct fixture *f = *state;
    struct taken taken[500];
    enqueue_many(f, "t", 500, NULL);
    assert_int_equal(take_all(f, f->owner, 30000, taken, 500), 500);
    for (int i = 0; i < 500; i++)
        assert_true(i % 2 ? ack(f, f->owner, taken[i]) : abandon(f, f->owner, taken[i], 3600000));
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    struct borrowed b = borrow(f);
    boxcar_store *own = f->store;
    f->store = b.store;
    ack(f, f->owner, (struct taken){.work_id = {1}}); /* whatever a first call has to read */
    int64_t scanned = 0;
    sqlite3_trace_v2(b.db, SQLITE_TRACE_PROFILE, count_scanned, &scanned);
    assert_true(ack(f, f->owner, take(f, f->owner, id)));
    sqlite3_trace_v2(b.db, 0, NULL, NULL);
    f->store = own;
    assert_in_range(scanned, 0, 20); /* settings and other tiny tables */
    borrowed_close(&b);
}

static sqlite3_stmt *step_once(boxcar_store *store, const char *sql) {
    sqlite3_stmt *stmt = NULL;
    sqlite3 *db = boxcar_store_sqlite_handle(store);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    return stmt;
}

/* BX-001: neither the commit nor what comes after it waits for a handler's forgotten statement. */
static void statements_that_a_handler_left_halfway_hold_nothing_up(void **state) {
    struct fixture *f = *state;
    fixture_sql(f, "create table mine (n)", NULL);
    boxcar_store *other = fixture_open(f);
    ASSERT_OK(f, seam_begin(f->store, &f->err));
    sqlite3_stmt *writing = step_once(f->store, "insert into mine values (1), (2) returning n");
    sqlite3_stmt *reading = step_once(f->store, "select n from mine");
    ASSERT_OK(f, seam_commit(f->store, &f->err));
    assert_int_equal(fixture_sql_number(f, "select count(*) from mine", NULL), 2);
    boxcar_new_message message = new_message("t", "p");
    ASSERT_OK(f, boxcar_enqueue(other, BOXCAR_OUTBOX, &message, NULL,
                                &f->err)); /* the view of `reading` is old now */
    ASSERT_OK(f, seam_begin(f->store, &f->err));
    assert_int_equal(sqlite3_step(reading), SQLITE_ROW);
    seam_roll_back(f->store);
    ASSERT_OK(f, boxcar_enqueue(other, BOXCAR_OUTBOX, &message, NULL, &f->err));
    boxcar_store_close(other);
    enqueue(f, "t", "p");
    sqlite3_finalize(writing);
    sqlite3_finalize(reading);
}

/* BX-001, OBX-097: SQLite undoes the whole transaction then; nothing may be committed behind it. */
static void full_disk_ends_the_handlers_transaction(void **state) {
    struct fixture *f = *state;
    fixture_sql(f, "create table mine (n)", NULL);
    sqlite3 *db = boxcar_store_sqlite_handle(f->store);
    ASSERT_OK(f, seam_begin(f->store, &f->err));
    assert_int_equal(sqlite3_exec(db, "insert into mine values (1)", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "pragma max_page_count = 1", NULL, NULL, NULL), SQLITE_OK);
    fill(f, f->store);
    assert_true(f->err.must_roll_back);
    boxcar_new_message message = new_message("t", "p");
    ASSERT_FAILS(f, BOXCAR_E_TRANSACTION, boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, NULL, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_TRANSACTION, seam_commit(f->store, &f->err));
    assert_int_equal(sqlite3_exec(db, "pragma max_page_count = 1000000", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(fixture_sql_number(f, "select count(*) from mine", NULL), 0);
    assert_nothing_claimable(f);
    take(f, f->owner, enqueue(f, "t", "p").work_id);
}

static boxcar_time sleep_up_to(struct fixture *f, int64_t longest_ms) {
    boxcar_time start = database_now(f);
    seam_sleep(f->store, f->owner, false, longest_ms);
    return (database_now(f) - start) / 1000;
}

static void *enqueue_later(void *context) {
    boxcar_new_message message = new_message("t", "p");
    pause_ms(
        30); /* for the nap to begin, which nothing shows; if it has not, the commit ends it all the same */
    return boxcar_enqueue(context, BOXCAR_OUTBOX, &message, NULL, NULL) == BOXCAR_OK ? context : NULL;
}

/* BX-012 */
static void commit_of_another_connection_ends_a_nap(void **state) {
    struct fixture *f = *state;
    boxcar_store *producer = fixture_open(f);
    boxcar_new_message message = new_message("t", "p");
    assert_nothing_claimable(f);
    ASSERT_OK(f, boxcar_enqueue(producer, BOXCAR_OUTBOX, &message, NULL,
                                &f->err)); /* between the look and the nap */
    assert_true(sleep_up_to(f, 60000) < 30000);
    boxcar_list_free(claim(f, f->owner, 10));
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        void *stored = NULL;
        assert_int_equal(pthread_create(&thread, NULL, enqueue_later, producer), 0);
        assert_true(sleep_up_to(f, 60000) < 30000);
        pthread_join(thread, &stored);
        assert_non_null(stored);
        boxcar_message_list *list = claim(f, f->owner, 10);
        assert_int_equal(list->count, 1);
        boxcar_list_free(list);
    }
    boxcar_store_close(producer);
}

struct log_book {
    int down, up;
};

static void keep_book(void *context, const boxcar_log_record *record) {
    struct log_book *book = context;
    book->down += strcmp(record->event, "store_down") == 0 && record->level == BOXCAR_LOG_WARN;
    book->up += strcmp(record->event, "store_up") == 0 && record->level == BOXCAR_LOG_INFO;
}

/* OBX-099 */
static void file_that_cannot_be_written_is_logged_once_and_so_is_its_return(void **state) {
    struct fixture *f = *state;
    struct log_book book = {0};
    boxcar_store_options options = fixture_options(f);
    options.busy_timeout_ms = 20;
    options.log = keep_book;
    options.log_context = &book;
    boxcar_store_close(f->store);
    ASSERT_OK(f, boxcar_store_open(&options, &f->store, &f->err));
    for (int round = 1; round <= 2; round++) {
        sqlite3 *writer = fixture_open_sqlite(f);
        assert_int_equal(sqlite3_exec(writer, "begin immediate", NULL, NULL, NULL), SQLITE_OK);
        boxcar_new_message message = new_message("t", "p");
        for (int i = 0; i < 3; i++) {
            ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE,
                         boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, NULL, &f->err));
            stats_of(f); /* reading works, which says nothing about writing */
        }
        assert_int_equal(book.down, round);
        assert_int_equal(book.up, round - 1);
        sqlite3_close(writer);
        enqueue(f, "t", "p");
        enqueue(f, "t", "p");
        assert_int_equal(book.down, round);
        assert_int_equal(book.up, round);
    }
}

/* BX-023: a worker whose file is replaced works on the one that has its name. */
static void worker_follows_the_name_of_its_file(void **state) {
    struct fixture *f = *state;
    boxcar_store_options options = fixture_options(f);
    const char *path = f->url + strlen("sqlite:");
    char away[600];
    boxcar_store *other = NULL;
    enqueue(f, "old", "p");
    snprintf(away, sizeof(away), "%s.away", path);
    assert_int_equal(rename(path, away), 0);
    ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE,
                 say_alive(f->store, f->owner, BOXCAR_OUTBOX, "h", NULL, 0, &f->err));
    assert_true(f->err.retryable);
    snprintf(away, sizeof(away), "%s-wal", path);
    (void)remove(away);
    snprintf(away, sizeof(away), "%s-shm", path);
    (void)remove(away);
    options.deploy = true;
    ASSERT_OK(f, boxcar_store_open(&options, &other, &f->err));
    ASSERT_OK(f, say_alive(f->store, f->owner, BOXCAR_OUTBOX, "h", NULL, 0, &f->err));
    assert_int_equal(stats_of(f).ready, 0);
    boxcar_new_message message = new_message("new", "p");
    ASSERT_OK(f, boxcar_enqueue(other, BOXCAR_OUTBOX, &message, NULL, &f->err));
    boxcar_store_close(other);
    boxcar_message_list *list = claim(f, f->owner, 10);
    assert_text(look(list)->topic, "new");
    boxcar_list_free(list);
}

static const struct CMUnitTest TESTS[] = {
    TEST(store_uses_the_write_ahead_log),
    BARE_TEST(deployment_leaves_other_tables_in_the_file_alone),
    TEST(busy_file_is_unavailable_after_the_timeout_and_nothing_changed),
    TEST(call_waits_for_another_writer),
    TEST(read_only_connection_reads_and_refuses_to_write),
    TEST(full_disk_is_a_clear_error_and_loses_nothing),
    TEST(call_that_fails_in_the_callers_transaction_undoes_only_itself),
    TEST(claim_and_ack_scan_no_table_however_much_is_done),
    TEST(statements_that_a_handler_left_halfway_hold_nothing_up),
    TEST(full_disk_ends_the_handlers_transaction),
    TEST(commit_of_another_connection_ends_a_nap),
    TEST(file_that_cannot_be_written_is_logged_once_and_so_is_its_return),
    TEST(worker_follows_the_name_of_its_file),
};

const struct suite SQLITE_SUITE = SUITE(TESTS);
