/* boxcar_enqueue_feed over a store in memory: what goes into a transaction, and what is done when
 * that cannot go on. */
#include "unit.h"

#include <string.h>

#include "base/error.h"
#include "boxcar.h"
#include "memory_store.h"

enum { STEPS_MAX = 8 };

/* What the store is asked: b = begin, p = process, c = commit, r = rollback. */
static struct {
    char asked[32];
    size_t sizes[STEPS_MAX]; /* of the messages of each process */
    bool sent_before;        /* the last of them */
    size_t keyed[STEPS_MAX]; /* the places in it that have a key */
    size_t keyed_count;
    int calls;
    int failing_call; /* of process, from 1 on; 0 = none */
    boxcar_status begin, commit;
    bool commit_is_unknown;
} HISTORY;

static struct memory_store MEMORY;
static struct store_ops OPS;
static boxcar_store *const STORE = &MEMORY.store;
static boxcar_error ERR;

static void note(char what) { HISTORY.asked[strlen(HISTORY.asked)] = what; }

static boxcar_status transaction(struct boxcar_store *store, enum transaction_step step, boxcar_error *err) {
    static const char NOTES[] = {
        [TRANSACTION_BEGIN] = 'b', [TRANSACTION_COMMIT] = 'c', [TRANSACTION_ROLLBACK] = 'r'};

    (void)store;
    note(NOTES[step]);
    if (step == TRANSACTION_BEGIN && HISTORY.begin != BOXCAR_OK)
        return error_set(err, HISTORY.begin, "not now");
    if (step != TRANSACTION_COMMIT || HISTORY.commit == BOXCAR_OK)
        return BOXCAR_OK;
    error_set(err, HISTORY.commit, "lost");
    err->outcome_unknown = HISTORY.commit_is_unknown;
    return HISTORY.commit;
}

static boxcar_status (*store_process)(struct boxcar_store *, const struct request *, struct result *,
                                      boxcar_error *);

static boxcar_status process(struct boxcar_store *store, const struct request *batch,
                             struct result *ret_result, boxcar_error *err) {
    note('p');
    HISTORY.sizes[HISTORY.calls++] = batch->base.messages[BOXCAR_OUTBOX].count;
    HISTORY.sent_before = batch->base.sent_before;
    for (size_t i = 0; batch->own[BOXCAR_OUTBOX].keys && i < batch->base.messages[BOXCAR_OUTBOX].count; i++)
        if (!boxcar_uuid_is_none(batch->own[BOXCAR_OUTBOX].keys[i].id.uuid))
            HISTORY.keyed[HISTORY.keyed_count++] = i;
    if (HISTORY.calls == HISTORY.failing_call)
        return error_set(err, BOXCAR_E_UNAVAILABLE, "gone");
    return store_process(store, batch, ret_result, err);
}

/* A feed of chunks of two messages each. */
static struct {
    boxcar_new_message messages[STEPS_MAX][2];
    boxcar_enqueued enqueued[STEPS_MAX][2];
    size_t chunks, at;
    bool says_last; /* with the last chunk, not behind it */
    int late_at;    /* before this chunk, once; -1 = never */
    int failing_at; /* instead of this chunk; -1 = never */
    int64_t waits[2 * STEPS_MAX];
    size_t asked;
} FEED;

static int setup(void **state) {
    (void)state;
    memory_init(&MEMORY);
    OPS = *MEMORY.store.ops;
    store_process = OPS.process;
    OPS.transaction = transaction;
    OPS.process = process;
    MEMORY.store.ops = &OPS;
    memset(&HISTORY, 0, sizeof(HISTORY));
    memset(&FEED, 0, sizeof(FEED));
    for (size_t i = 0; i < STEPS_MAX; i++)
        for (size_t j = 0; j < 2; j++) {
            FEED.messages[i][j] = BOXCAR_NEW_MESSAGE_INIT;
            FEED.messages[i][j].topic = FEED.messages[i][j].payload = BOXCAR_STR("t");
        }
    FEED.late_at = FEED.failing_at = -1;
    ERR = BOXCAR_ERROR_INIT;
    return 0;
}

static boxcar_status next(void *context, int64_t wait_ms, boxcar_chunk *ret_chunk, boxcar_error *err) {
    size_t at = FEED.at;

    assert_ptr_equal(context, &FEED);
    FEED.waits[FEED.asked++] = wait_ms;
    if ((int)at == FEED.failing_at)
        return error_set(err, BOXCAR_E_CONFLICT, "the file is torn");
    if ((int)at == FEED.late_at) {
        FEED.late_at = -1;
        return BOXCAR_OK;
    }
    ret_chunk->is_last = at + FEED.says_last >= FEED.chunks;
    if (at == FEED.chunks)
        return BOXCAR_OK;
    FEED.at++;
    ret_chunk->messages = FEED.messages[at];
    ret_chunk->enqueued = FEED.enqueued[at];
    ret_chunk->count = 2;
    return BOXCAR_OK;
}

static boxcar_status feed(size_t chunks) {
    FEED.chunks = chunks;
    return boxcar_enqueue_feed(STORE, BOXCAR_OUTBOX, next, &FEED, &ERR);
}

static void assert_answered(size_t chunks) {
    for (size_t i = 0; i < chunks; i++)
        for (size_t j = 0; j < 2; j++)
            assert_true(FEED.enqueued[i][j].work_id.value > 0);
}

static void chunks_go_into_one_transaction(void **state) {
    (void)state;
    assert_int_equal(feed(3), BOXCAR_OK);
    assert_string_equal(HISTORY.asked, "bpppc");
    assert_answered(3);
}

static void feed_of_one_chunk_needs_no_transaction(void **state) {
    (void)state;
    FEED.says_last = true;
    assert_int_equal(feed(1), BOXCAR_OK);
    assert_string_equal(HISTORY.asked, "p");
    assert_answered(1);
}

static void feed_of_nothing_asks_nothing(void **state) {
    (void)state;
    assert_int_equal(feed(0), BOXCAR_OK);
    assert_string_equal(HISTORY.asked, "");
}

/* Nobody is kept waiting before the first chunk is in a transaction; afterwards there is a limit. */
static void only_a_transaction_limits_the_waiting(void **state) {
    (void)state;
    FEED.says_last = true;
    assert_int_equal(feed(3), BOXCAR_OK);
    assert_int_equal(FEED.waits[0], -1);
    assert_true(FEED.waits[1] >= 0 && FEED.waits[2] >= 0);
}

static void late_chunk_ends_the_transaction(void **state) {
    (void)state;
    FEED.late_at = 2;
    assert_int_equal(feed(4), BOXCAR_OK);
    assert_string_equal(HISTORY.asked, "bpprbppppc");
    assert_true(FEED.waits[2] >= 0);
    assert_int_equal(FEED.waits[3], -1);
    assert_answered(4);
}

static void late_chunk_and_a_store_that_fails_later(void **state) {
    (void)state;
    FEED.late_at = 2;
    HISTORY.failing_call = 4;
    assert_int_equal(feed(3), BOXCAR_OK);
    assert_string_equal(HISTORY.asked, "bpprbpprp");
    assert_int_equal(HISTORY.sizes[4], 6);
    assert_false(HISTORY.sent_before);
    assert_answered(3);
}

static void keys_in_a_feed_that_was_late_come_last(void **state) {
    (void)state;
    FEED.late_at = 2;
    FEED.messages[2][0].key = BOXCAR_STR("k");
    assert_int_equal(feed(4), BOXCAR_OK);
    assert_string_equal(HISTORY.asked, "bpprbpppc");
    assert_int_equal(HISTORY.sizes[4], 4);
    assert_answered(4);
}

static void chunk_that_cannot_be_stored_is_stored_with_all_others_at_the_end(void **state) {
    (void)state;
    HISTORY.failing_call = 2;
    assert_int_equal(feed(3), BOXCAR_OK);
    assert_string_equal(HISTORY.asked, "bpprp");
    assert_int_equal(HISTORY.sizes[2], 6);
    assert_answered(3);
}

static void store_that_cannot_begin_gets_everything_at_the_end(void **state) {
    (void)state;
    HISTORY.begin = BOXCAR_E_UNSUPPORTED;
    assert_int_equal(feed(3), BOXCAR_OK);
    assert_string_equal(HISTORY.asked, "bp");
    assert_int_equal(HISTORY.sizes[0], 6);
    assert_answered(3);
}

static void what_fails_at_the_end_fails_for_the_caller(void **state) {
    (void)state;
    HISTORY.begin = BOXCAR_E_UNSUPPORTED;
    HISTORY.failing_call = 1;
    assert_int_equal(feed(3), BOXCAR_E_UNAVAILABLE);
    assert_string_equal(ERR.message, "gone");
}

/* BX-001: of a commit that was answered nothing is there; of one that was not it may be. */
static void commit_that_fails_is_repeated_as_one_call(void **state) {
    (void)state;
    for (int unknown = 0; unknown < 2; unknown++) {
        setup(NULL);
        HISTORY.commit = BOXCAR_E_UNAVAILABLE;
        HISTORY.commit_is_unknown = unknown;
        assert_int_equal(feed(2), BOXCAR_OK);
        assert_string_equal(HISTORY.asked, "bppcrp");
        assert_int_equal(HISTORY.sizes[2], 4);
        assert_int_equal(HISTORY.sent_before, unknown);
        assert_answered(2);
    }
}

/* What can make others wait is stored last, by one call, and with it what follows: order stays. */
static void keys_ids_and_joins_wait_for_the_end(void **state) {
    (void)state;
    for (int which = 0; which < 3; which++) {
        setup(NULL);
        if (which == 0)
            FEED.messages[1][1].key = BOXCAR_STR("k");
        else if (which == 1)
            FEED.messages[1][1].message_id.uuid.bytes[0] = 1;
        else
            FEED.messages[1][1].join_id.uuid.bytes[0] = 1;
        assert_int_equal(feed(4), BOXCAR_OK);
        assert_string_equal(HISTORY.asked, "bppc");
        assert_int_equal(HISTORY.sizes[0], 2);
        assert_int_equal(HISTORY.sizes[1], 6);
        assert_answered(4);
    }
}

static void keys_stay_with_their_messages(void **state) {
    (void)state;
    FEED.messages[1][1].key = FEED.messages[3][0].key = BOXCAR_STR("k");
    assert_int_equal(feed(5), BOXCAR_OK);
    assert_int_equal(HISTORY.keyed_count, 2);
    assert_int_equal(HISTORY.keyed[0], 1);
    assert_int_equal(HISTORY.keyed[1], 4);
}

static void feed_that_fails_is_rolled_back(void **state) {
    (void)state;
    FEED.failing_at = 2;
    assert_int_equal(feed(4), BOXCAR_E_CONFLICT);
    assert_string_equal(ERR.message, "the file is torn");
    assert_string_equal(HISTORY.asked, "bppr");
}

/* BX-011 */
static void bad_message_is_named_by_its_place_in_the_feed(void **state) {
    (void)state;
    FEED.messages[2][1].topic = BOXCAR_STR("");
    assert_int_equal(feed(4), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "messages[5].topic");
    assert_string_equal(HISTORY.asked, "bppr");
}

static void arguments_are_checked(void **state) {
    (void)state;
    assert_int_equal(boxcar_enqueue_feed(NULL, BOXCAR_OUTBOX, next, NULL, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "store");
    assert_int_equal(boxcar_enqueue_feed(STORE, BOXCAR_OUTBOX, NULL, NULL, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "next");
}

/* OBX-102: a line for each message, once they are stored for good. */
static void messages_are_logged_after_the_commit(void **state) {
    (void)state;
    HISTORY.failing_call = 2;
    STORE->log_level = BOXCAR_LOG_INFO;
    assert_int_equal(feed(3), BOXCAR_OK);
    assert_string_equal(MEMORY.last.event, "enqueue");
    assert_int_equal(MEMORY.log_count, 6 + 1); /* and one about the transaction */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(chunks_go_into_one_transaction, setup),
        cmocka_unit_test_setup(feed_of_one_chunk_needs_no_transaction, setup),
        cmocka_unit_test_setup(feed_of_nothing_asks_nothing, setup),
        cmocka_unit_test_setup(only_a_transaction_limits_the_waiting, setup),
        cmocka_unit_test_setup(late_chunk_ends_the_transaction, setup),
        cmocka_unit_test_setup(late_chunk_and_a_store_that_fails_later, setup),
        cmocka_unit_test_setup(keys_in_a_feed_that_was_late_come_last, setup),
        cmocka_unit_test_setup(chunk_that_cannot_be_stored_is_stored_with_all_others_at_the_end, setup),
        cmocka_unit_test_setup(store_that_cannot_begin_gets_everything_at_the_end, setup),
        cmocka_unit_test_setup(what_fails_at_the_end_fails_for_the_caller, setup),
        cmocka_unit_test_setup(commit_that_fails_is_repeated_as_one_call, setup),
        cmocka_unit_test_setup(keys_ids_and_joins_wait_for_the_end, setup),
        cmocka_unit_test_setup(keys_stay_with_their_messages, setup),
        cmocka_unit_test_setup(feed_that_fails_is_rolled_back, setup),
        cmocka_unit_test_setup(bad_message_is_named_by_its_place_in_the_feed, setup),
        cmocka_unit_test_setup(arguments_are_checked, setup),
        cmocka_unit_test_setup(messages_are_logged_after_the_commit, setup),
    };

    return cmocka_run_group_tests_name("api_feed", tests, NULL, NULL);
}
