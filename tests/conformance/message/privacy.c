/* Payloads are nobody's business: not the log's, not the errors'. */
#include <stdlib.h>
#include <string.h>

#include "conformance.h"

#define SECRET "the-secret-of-the-payload"

struct log_book {
    int records, leaks;
};

static bool has_secret(const char *text, size_t len) {
    return text && memmem(text, len, SECRET, strlen(SECRET)) != NULL;
}

static void keep_book(void *context, const boxcar_log_record *record) {
    struct log_book *book = context;
    book->records++;
    book->leaks += has_secret(record->text, record->text ? strlen(record->text) : 0);
    book->leaks += has_secret(record->event, record->event ? strlen(record->event) : 0);
    for (size_t i = 0; i < record->field_count; i++)
        book->leaks += has_secret(record->fields[i].value.data, record->fields[i].value.len);
}

static void open_with_log(struct fixture *f, struct log_book *book) {
    boxcar_store_close(f->store);
    boxcar_store_options options = fixture_options(f);
    options.log = keep_book;
    options.log_context = book;
    ASSERT_OK(f, boxcar_store_open(&options, &f->store, &f->err));
}

static void live_a_whole_life(struct fixture *f) {
    boxcar_new_message message = new_message("t", SECRET);
    message.message_id.uuid = boxcar_uuid_new();
    boxcar_work_id id = enqueue_message(f, &message).work_id;
    enqueue_message(f, &message);
    assert_true(abandon(f, f->owner, take(f, f->owner, id), 0));
    take_for(f, f->owner, id, BOXCAR_LEASE_MS_MIN);
    reap_wait(f, 1);
    assert_true(bury(f, f->owner, take(f, f->owner, id), "no"));
    boxcar_dead_filter all = BOXCAR_DEAD_FILTER_INIT;
    all.all = true;
    ASSERT_OK(f, boxcar_dead_replay(f->store, &all, BOXCAR_NO_STR, NULL, &f->err));
    assert_true(ack(f, f->owner, take(f, f->owner, id)));
    boxcar_maintenance maintenance = BOXCAR_MAINTENANCE_INIT;
    ASSERT_OK(f, boxcar_maintenance_run(f->store, &maintenance, &f->err));
}

/* OBX-125, BX-010 */
static void payload_is_in_no_log_record(void **state) {
    struct fixture *f = *state;
    struct log_book book = {0};
    open_with_log(f, &book);
    live_a_whole_life(f);
    assert_true(book.records > 0);
    assert_int_equal(book.leaks, 0);
}

static void assert_error_is_discreet(struct fixture *f) {
    assert_true(f->err.message[0] != '\0');
    assert_null(strstr(f->err.message, SECRET));
    assert_null(strstr(f->err.argument, SECRET));
}

/* BX-010, OBX-125 */
static void payload_is_in_no_error_about_bad_input(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued enqueued;
    boxcar_new_message message = new_message("t", NULL);
    message.payload = BOXCAR_STR(SECRET "\xff");
    ASSERT_INVALID(f, "payload", boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, &enqueued, &f->err));
    assert_error_is_discreet(f);
    message.payload = BOXCAR_STR(SECRET "\0");
    ASSERT_INVALID(f, "payload", boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, &enqueued, &f->err));
    assert_error_is_discreet(f);
}

/* BX-010, OBX-125 */
static void payload_is_in_no_error_or_log_when_the_store_itself_fails(void **state) {
    struct fixture *f = *state;
    struct log_book book = {0};
    open_with_log(f, &book);
    fixture_sql(
        f, "create trigger no before insert on boxcar_message begin select raise(abort, 'not today'); end",
        "alter table message add constraint no check (topic <> 'forbidden')");
    boxcar_new_message message = new_message("forbidden", SECRET);
    boxcar_enqueued enqueued;
    assert_int_not_equal(boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, &enqueued, &f->err), BOXCAR_OK);
    assert_error_is_discreet(f);
    assert_int_equal(book.leaks, 0);
}

static const struct CMUnitTest TESTS[] = {
    TEST(payload_is_in_no_log_record),
    TEST(payload_is_in_no_error_about_bad_input),
    TEST(payload_is_in_no_error_or_log_when_the_store_itself_fails),
};

const struct suite PRIVACY_SUITE = SUITE(TESTS);
