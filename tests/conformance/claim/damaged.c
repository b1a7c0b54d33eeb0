/* Rows of an SQLite file whose texts another program, or the disk, has spoiled: they are not UTF-8. Nobody is
 * handed such a message, and nobody else's suffer from it. */
#include <stdio.h>
#include <string.h>

#include "inboxes.h"
#include "joins.h"
#include "log_capture.h"
#include "streams.h"

static void spoil(struct fixture *f, const char *table, const char *column, boxcar_work_id id) {
    char sql[200];
    snprintf(sql, sizeof(sql), "update %s set %s = cast(x'ff41' as text) where work_id = %lld", table, column,
             (long long)id.value);
    fixture_sql(f, sql, NULL);
}

static void assert_buried(struct fixture *f, boxcar_work_id id, const char *column) {
    boxcar_message_list *list = find(f, id);
    char error[80];
    assert_dead(f, id, BOXCAR_REASON_REJECTED);
    snprintf(error, sizeof(error), "its %s is not UTF-8", column);
    if (!strstr(look(list)->last_error.data, error))
        fail_msg("%s", look(list)->last_error.data);
    boxcar_list_free(list);
}

static boxcar_work_id enqueue_whole(struct fixture *f, const char *stream) {
    boxcar_new_message message = new_message("t", "p");
    message.stream = stream ? boxcar_str_of(stream) : BOXCAR_NO_STR;
    message.correlation_id = BOXCAR_STR("c");
    message.headers = BOXCAR_STR("{\"a\":\"b\"}");
    return enqueue_message(f, &message).work_id;
}

static const char *const COLUMNS[] = {"topic",        "correlation_id", "headers", "metadata",
                                      "causation_id", "event_type",     "payload"};
enum { COLUMN_COUNT = sizeof(COLUMNS) / sizeof(COLUMNS[0]) };

/* BX-025 */
static void damaged_message_is_buried_and_its_neighbours_are_handed_out(void **state) {
    struct fixture *f = *state;
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        boxcar_work_id ids[3] = {enqueue_whole(f, NULL), enqueue_whole(f, NULL), enqueue_whole(f, NULL)};
        spoil(f, "boxcar_message", COLUMNS[i], ids[1]);
        struct batch_taken batch = claim_batch(f, f->owner, 10);
        assert_taken(&batch, (boxcar_work_id[]){ids[0], ids[2]}, 2);
        assert_int_equal(ack_batch(f, f->owner, &batch), 2);
        assert_buried(f, ids[1], COLUMNS[i]);
    }
    assert_int_equal(stats_of(f).failed, COLUMN_COUNT);
    assert_int_equal(stats_of(f).ready, 0);
    assert_int_equal(stats_of(f).in_progress, 0);
    assert_int_equal(audit_lost(f), 0);
}

static void damaged_message_that_comes_back_is_buried(void **state) {
    struct fixture *f = *state;
    boxcar_work_id bad = enqueue_whole(f, NULL), worse = enqueue_whole(f, NULL),
                   good = enqueue_whole(f, NULL);
    struct batch_taken batch = claim_batch(f, f->owner, 10);
    assert_int_equal(batch.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(abandon(f, f->owner, batch.items[i], 0));
    spoil(f, "boxcar_message", "payload", bad);
    spoil(f, "boxcar_parked", "last_error", worse);
    take(f, f->owner, good);
    assert_nothing_claimable(f);
    assert_buried(f, bad, "payload");
    assert_buried(f, worse, "last_error");
    assert_int_equal(retry_count_of(f, bad), 1);
    assert_int_equal(stats_of(f).in_progress, 1);
    assert_int_equal(audit_lost(f), 0);
}

static void suspect_that_is_damaged_is_buried(void **state) {
    struct fixture *f = *state;
    boxcar_work_id bad = enqueue_whole(f, NULL);
    take_for(f, f->owner, bad, BOXCAR_LEASE_MS_MIN);
    wait_out(f, BOXCAR_LEASE_MS_MIN);
    assert_int_equal(reap(f), 1);
    spoil(f, "boxcar_message", "headers", bad);
    assert_nothing_claimable(f);
    assert_buried(f, bad, "headers");
}

static void stream_goes_on_behind_a_damaged_message(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[4];
    enqueue_run(f, "s", 4, ids);
    spoil(f, "boxcar_message", "payload", ids[1]);
    struct batch_taken batch = claim_batch(f, f->owner, 10);
    assert_taken(&batch, ids, 1);
    assert_buried(f, ids[1], "payload");
    assert_nothing_claimable(f); /* in order: the first is in hands */
    assert_int_equal(ack_batch(f, f->owner, &batch), 1);
    take_run(f, f->owner, ids + 2, 2);
    assert_int_equal(violations(f), 0);
    assert_int_equal(audit_lost(f), 0);
}

static void stream_whose_head_is_damaged_goes_on_in_the_same_claim(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[3];
    enqueue_run(f, "s", 3, ids);
    spoil(f, "boxcar_message", "payload", ids[0]);
    take_run(f, f->owner, ids + 1, 2);
    assert_buried(f, ids[0], "payload");
}

static void stream_in_the_lot_goes_on_behind_a_damaged_message(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[4];
    enqueue_run(f, "s", 4, ids);
    struct batch_taken batch = take_run(f, f->owner, ids, 4);
    for (size_t i = 4; i > 0; i--)
        assert_true(abandon(f, f->owner, batch.items[i - 1], 0));
    spoil(f, "boxcar_message", "payload", ids[1]);
    batch = claim_batch(f, f->owner, 10);
    assert_taken(&batch, ids, 1);
    assert_buried(f, ids[1], "payload");
    assert_nothing_claimable(f);
    assert_int_equal(ack_batch(f, f->owner, &batch), 1);
    take_run(f, f->owner, ids + 2, 2);
    assert_int_equal(violations(f), 0);
    assert_int_equal(audit_lost(f), 0);
}

/* BX-006 */
static void damaged_message_halts_its_stream(void **state) {
    struct fixture *f = *state;
    boxcar_work_id log[3], lot[3];
    set_setting(f, "stream_policy", "halt");
    enqueue_run(f, "lot", 3, lot);
    struct batch_taken batch = take_run(f, f->owner, lot, 3);
    for (size_t i = 3; i > 0; i--)
        assert_true(abandon(f, f->owner, batch.items[i - 1], 0));
    enqueue_run(f, "log", 3, log);
    spoil(f, "boxcar_message", "payload", lot[1]);
    spoil(f, "boxcar_message", "payload", log[1]);
    struct taken taken[6];
    assert_int_equal(take_all(f, f->owner, 30000, taken, 6), 2);
    assert_true(ack(f, f->owner, taken[0]) && ack(f, f->owner, taken[1]));
    assert_nothing_claimable(f);
    assert_int_equal(stream_of(f, "log").halted_by.value, log[1].value);
    assert_int_equal(stream_of(f, "lot").halted_by.value, lot[1].value);
    resume(f, "log", false);
    take(f, f->owner, log[2]);
    resume(f, "lot", false);
    take(f, f->owner, lot[2]);
}

static void key_of_the_inbox_that_is_damaged_buries_its_message(void **state) {
    struct fixture *f = *state;
    boxcar_work_id bad = deliver(f, "partner", "1").work_id, good = deliver(f, "partner", "2").work_id;
    spoil(f, "boxcar_inbox_key", "source", bad);
    inbox_take(f, f->owner, good);
    assert_inbox_status(f, bad, BOXCAR_FAILED);
}

static void step_that_is_damaged_fails_for_its_join(void **state) {
    struct fixture *f = *state;
    boxcar_join_id join_id = start_join(f, 1);
    spoil(f, "boxcar_message", "payload", enqueue_step(f, join_id).work_id);
    assert_nothing_claimable(f);
    boxcar_join_list *list = NULL;
    ASSERT_OK(f, boxcar_join_find(f->store, join_id, &list, &f->err));
    assert_int_equal(list->items[0]->status, BOXCAR_JOIN_FAILED);
    boxcar_list_free(list);
}

static void message_that_was_corrected_can_be_replayed(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue_whole(f, NULL);
    boxcar_message_ref ref = {.work_id = id};
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    int64_t count = 0;
    spoil(f, "boxcar_message", "payload", id);
    assert_nothing_claimable(f);
    filter.refs = &ref;
    filter.ref_count = 1;
    ASSERT_OK(f, boxcar_dead_replay(f->store, &filter, BOXCAR_NO_STR, &count, &f->err));
    assert_nothing_claimable(f); /* it is still damaged */
    fixture_sql(f, "update boxcar_message set payload = 'good'", NULL);
    ASSERT_OK(f, boxcar_dead_replay(f->store, &filter, BOXCAR_NO_STR, &count, &f->err));
    assert_int_equal(count, 1);
    take(f, f->owner, id);
}

static void damaged_messages_are_logged_as_a_warning(void **state) {
    struct fixture *f = *state;
    struct log_capture *captured = log_capture_new();
    char id[32];
    log_capture_reopen(captured, f);
    boxcar_work_id first = enqueue_whole(f, NULL), second = enqueue_whole(f, NULL);
    spoil(f, "boxcar_message", "headers", first);
    spoil(f, "boxcar_message", "payload", second);
    assert_nothing_claimable(f);
    snprintf(id, sizeof(id), "work_id=%lld ", (long long)first.value);
    assert_int_equal(
        log_capture_count(captured, "warn damaged ", "2 damaged messages", id, " field=headers "), 1);
    assert_int_equal(log_capture_count(captured, "warn damaged ", NULL, NULL, NULL), 1);
    boxcar_store_close(f->store);
    f->store = NULL;
    log_capture_free(captured);
}

/* A reader sees what is there, and no reader fails. */
static void damaged_rows_can_be_read(void **state) {
    struct fixture *f = *state;
    boxcar_message_filter filter = BOXCAR_MESSAGE_FILTER_INIT;
    boxcar_message_list *list = NULL;
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        spoil(f, "boxcar_message", COLUMNS[i], enqueue_whole(f, NULL));
    ASSERT_OK(f, boxcar_message_page(f->store, &filter, &list, &f->err));
    assert_int_equal(list->count, COLUMN_COUNT);
    boxcar_list_free(list);
}

static const struct CMUnitTest TESTS[] = {
    TEST(damaged_message_is_buried_and_its_neighbours_are_handed_out),
    TEST(damaged_message_that_comes_back_is_buried),
    TEST(suspect_that_is_damaged_is_buried),
    TEST(stream_goes_on_behind_a_damaged_message),
    TEST(stream_whose_head_is_damaged_goes_on_in_the_same_claim),
    TEST(stream_in_the_lot_goes_on_behind_a_damaged_message),
    TEST(damaged_message_halts_its_stream),
    TEST(key_of_the_inbox_that_is_damaged_buries_its_message),
    TEST(step_that_is_damaged_fails_for_its_join),
    TEST(message_that_was_corrected_can_be_replayed),
    TEST(damaged_messages_are_logged_as_a_warning),
    TEST(damaged_rows_can_be_read),
};

const struct suite DAMAGED_SUITE = SUITE(TESTS);
