/* Claiming: which messages a claimer gets, how many, and in which order. */
#include <string.h>

#include "conformance.h"

/* OBX-023 */
static void claim_of_an_empty_store_is_an_empty_list(void **state) {
    struct fixture *f = *state;
    boxcar_message_list *list = claim(f, f->owner, 10);
    assert_int_equal(list->count, 0);
    boxcar_list_free(list);
}

static void assert_leased(const boxcar_message *m, boxcar_owner owner, boxcar_time earliest,
                          boxcar_time latest) {
    assert_int_equal(m->status, BOXCAR_IN_PROGRESS);
    assert_same_owner(m->owner, owner);
    assert_true(m->epoch.value > 0);
    assert_true(m->locked_until >= earliest && m->locked_until <= latest);
}

/* OBX-017, OBX-020, OBX-021, OBX-022 */
static void claim_leases_to_the_owner_for_the_time_asked(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued enqueued = enqueue(f, "t", "a");
    boxcar_time before = database_now(f);
    boxcar_message_list *claimed = claim_for(f, f->owner, 5, 45000);
    boxcar_time after = database_now(f);
    boxcar_message_list *found = find(f, enqueued.work_id);
    /* a few milliseconds for the resolution of the clock we ask ourselves */
    assert_leased(look(claimed), f->owner, before + 45000000 - 5000, after + 45000000 + 5000);
    assert_leased(look(found), f->owner, before + 45000000 - 5000, after + 45000000 + 5000);
    assert_int_equal(look(found)->epoch.value, look(claimed)->epoch.value);
    assert_int_equal(look(claimed)->work_id.value, enqueued.work_id.value);
    boxcar_list_free(claimed);
    boxcar_list_free(found);
}

/* OBX-026, OBX-022 */
static void claim_returns_no_more_than_the_batch_size(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[5];
    enqueue_many(f, "t", 5, ids);
    static const size_t WANTED[] = {2, 2, 1, 0};
    size_t next = 0;
    for (size_t i = 0; i < 4; i++) {
        boxcar_message_list *list = claim(f, f->owner, 2);
        assert_int_equal(list->count, WANTED[i]);
        for (size_t k = 0; k < WANTED[i]; k++)
            assert_int_equal(list->items[k]->work_id.value, ids[next++].value);
        boxcar_list_free(list);
    }
}

/* BX-020 */
static void fresh_messages_come_oldest_first(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[20];
    for (int i = 0; i < 20; i++)
        ids[i] = enqueue(f, "t", "a").work_id;
    struct taken taken[20];
    assert_int_equal(take_all(f, f->owner, 30000, taken, 20), 20);
    for (int i = 0; i < 20; i++)
        assert_int_equal(taken[i].work_id.value, ids[i].value);
}

/* OBX-019, OBX-101, BX-002 */
static void leased_message_is_nobody_elses(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued enqueued = enqueue(f, "t", "a");
    take(f, f->owner, enqueued.work_id);
    assert_nothing_claimable(f);
    boxcar_store *mine = f->store;
    f->store = fixture_open(f);
    assert_nothing_claimable(f);
    boxcar_store_close(f->store);
    f->store = mine;
    /* not even its own owner gets it twice */
    boxcar_message_list *again = claim(f, f->owner, 1);
    assert_int_equal(again->count, 0);
    boxcar_list_free(again);
}

/* OBX-024, OBX-025, BX-004 */
static void done_and_failed_messages_are_not_claimed(void **state) {
    struct fixture *f = *state;
    enqueue_done(f, "t");
    enqueue_dead(f, "t", "no good");
    assert_nothing_claimable(f);
    assert_int_equal(reap(f), 0);
    assert_nothing_claimable(f);
}

/* BX-002 */
static void every_claim_has_a_higher_epoch(void **state) {
    struct fixture *f = *state;
    int64_t last = 0;
    boxcar_work_id id = enqueue(f, "t", "a").work_id;
    for (int i = 0; i < 6; i++) {
        struct taken taken = take(f, i % 2 ? f->owner : f->other, id);
        assert_true(taken.epoch.value > last);
        last = taken.epoch.value;
        assert_true(defer(f, i % 2 ? f->owner : f->other, taken, 0));
    }
}

/* BX-002 */
static void messages_of_one_claim_share_its_epoch(void **state) {
    struct fixture *f = *state;
    enqueue_many(f, "t", 10, NULL);
    boxcar_message_list *list = claim(f, f->owner, 10);
    assert_int_equal(list->count, 10);
    for (size_t i = 1; i < 10; i++)
        assert_int_equal(list->items[i]->epoch.value, list->items[0]->epoch.value);
    boxcar_list_free(list);
}

/* Twenty messages that were abandoned and are due, and twenty that nobody touched yet. */
static int64_t make_retries_and_fresh(struct fixture *f) {
    struct taken taken[20];
    enqueue_many(f, "retry", 20, NULL);
    assert_int_equal(take_all(f, f->owner, 30000, taken, 20), 20);
    for (int i = 0; i < 20; i++)
        assert_true(abandon(f, f->owner, taken[i], 0));
    enqueue_many(f, "fresh", 20, NULL);
    return taken[19].work_id.value;
}

/* BX-020 */
static void retries_and_fresh_messages_share_a_batch(void **state) {
    struct fixture *f = *state;
    int64_t last_retry = make_retries_and_fresh(f);
    boxcar_message_list *list = claim(f, f->owner, 10);
    size_t retries = 0, count = list->count;
    for (size_t i = 0; i < count; i++)
        retries += list->items[i]->work_id.value <= last_retry;
    boxcar_list_free(list);
    assert_in_range(retries, 1, 5);
    assert_in_range(count - retries, 1, 5);
}

/* BX-020 */
static void neither_retries_nor_fresh_messages_starve_at_a_batch_of_one(void **state) {
    struct fixture *f = *state;
    int64_t last_retry = make_retries_and_fresh(f);
    int retries = 0;
    for (int i = 0; i < 10; i++) {
        boxcar_message_list *list = claim(f, f->owner, 1);
        retries += look(list)->work_id.value <= last_retry;
        boxcar_list_free(list);
    }
    assert_in_range(retries, 4, 6);
}

/* BX-020, BX-001 */
static void everything_ready_is_handed_out_exactly_once(void **state) {
    struct fixture *f = *state;
    make_retries_and_fresh(f);
    struct taken taken[64];
    bool seen[64] = {false};
    assert_int_equal(take_all(f, f->owner, 30000, taken, 64), 40);
    for (int i = 0; i < 40; i++) {
        assert_in_range(taken[i].work_id.value, 1, 40);
        assert_false(seen[taken[i].work_id.value]);
        seen[taken[i].work_id.value] = true;
    }
}

static size_t claim_bytes(struct fixture *f, int64_t bytes) {
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    boxcar_message_list *list = NULL;
    options.owner = f->owner;
    options.batch_bytes = bytes;
    ASSERT_OK(f, boxcar_claim(f->store, &options, &list, &f->err));
    size_t count = list->count;
    boxcar_list_free(list);
    return count;
}

/* BX-020: by the claimer's memory; a message that does not fit goes alone. */
static void claim_is_limited_in_bytes(void **state) {
    struct fixture *f = *state;
    static char payload[3000];
    memset(payload, 'x', sizeof(payload) - 1);
    for (int i = 0; i < 6; i++)
        enqueue(f, "t", payload);
    assert_int_equal(claim_bytes(f, 1024), 1);
    assert_in_range(claim_bytes(f, 7000), 2, 3); /* give or take a message */
    assert_in_range(claim_bytes(f, BOXCAR_BATCH_BYTES_MAX), 2, 3);
    assert_int_equal(stats_of(f).in_progress, 6);
}

/* BX-020 */
static void headers_count_in_the_bytes_of_a_claim(void **state) {
    struct fixture *f = *state;
    static char headers[3000];
    memset(headers, 'x', sizeof(headers) - 1);
    memcpy(headers, "{\"a\": \"", 7);
    memcpy(headers + sizeof(headers) - 3, "\"}", 2);
    for (int i = 0; i < 6; i++) {
        boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
        message.topic = BOXCAR_STR("t");
        message.payload = BOXCAR_STR("p");
        message.headers = boxcar_str_of(headers);
        ASSERT_OK(f, boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, NULL, &f->err));
    }
    assert_int_equal(claim_bytes(f, 1024), 1);
    assert_in_range(claim_bytes(f, 7000), 2, 3); /* give or take a message */
    assert_in_range(claim_bytes(f, BOXCAR_BATCH_BYTES_MAX), 2, 3);
}

/* BX-062: what is left out of a stream comes next. */
static void stream_that_is_limited_in_bytes_goes_on_in_order(void **state) {
    struct fixture *f = *state;
    static char payload[3000];
    boxcar_work_id ids[5];
    memset(payload, 'x', sizeof(payload) - 1);
    for (int i = 0; i < 5; i++)
        ids[i] = enqueue_streamed(f, "s", payload).work_id;
    for (int done = 0; done < 5;) {
        boxcar_claimer options = BOXCAR_CLAIMER_INIT;
        boxcar_message_list *list = NULL;
        options.owner = f->owner;
        options.batch_bytes = 4000;
        ASSERT_OK(f, boxcar_claim(f->store, &options, &list, &f->err));
        size_t count = list->count;
        assert_in_range(count, 1, 2);
        for (size_t i = 0; i < count; i++) {
            const boxcar_message *m = list->items[i];
            assert_int_equal(m->work_id.value, ids[done++].value);
            assert_true(ack(f, f->owner, (struct taken){m->work_id, m->epoch, 0, 0}));
        }
        boxcar_list_free(list);
    }
}

static void limit_in_bytes_has_a_range(void **state) {
    struct fixture *f = *state;
    const int64_t BAD[] = {0, -1, 1023, BOXCAR_BATCH_BYTES_MAX + 1, INT64_MAX};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        boxcar_claimer options = BOXCAR_CLAIMER_INIT;
        boxcar_message_list *list = NULL;
        options.owner = f->owner;
        options.batch_bytes = BAD[i];
        assert_int_equal(boxcar_claim(f->store, &options, &list, &f->err), BOXCAR_E_INVALID);
        assert_non_null(strstr(f->err.message, "batch_bytes"));
    }
}

static const struct CMUnitTest TESTS[] = {
    TEST(claim_is_limited_in_bytes),
    TEST(headers_count_in_the_bytes_of_a_claim),
    TEST(stream_that_is_limited_in_bytes_goes_on_in_order),
    TEST(limit_in_bytes_has_a_range),
    TEST(claim_of_an_empty_store_is_an_empty_list),
    TEST(claim_leases_to_the_owner_for_the_time_asked),
    TEST(claim_returns_no_more_than_the_batch_size),
    TEST(fresh_messages_come_oldest_first),
    TEST(leased_message_is_nobody_elses),
    TEST(done_and_failed_messages_are_not_claimed),
    TEST(every_claim_has_a_higher_epoch),
    TEST(messages_of_one_claim_share_its_epoch),
    TEST(retries_and_fresh_messages_share_a_batch),
    TEST(neither_retries_nor_fresh_messages_starve_at_a_batch_of_one),
    TEST(everything_ready_is_handed_out_exactly_once),
};

const struct suite CLAIM_SUITE = SUITE(TESTS);
