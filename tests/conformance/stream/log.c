/* Streams whose messages lie in the log where no claim has met them yet, and how they get out of it. */
#include <stdio.h>
#include <string.h>

#include "streams.h"

static void cancel_one(struct fixture *f, boxcar_work_id id) {
    boxcar_message_ref ref = {.work_id = id};
    ASSERT_OK(f, boxcar_message_cancel(f->store, BOXCAR_OUTBOX, ref, &f->err));
}

static void replay_all(struct fixture *f) {
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    int64_t count = 0;
    filter.all = true;
    ASSERT_OK(f, boxcar_dead_replay(f->store, &filter, BOXCAR_NO_STR, &count, &f->err));
}

/* BX-006, BX-025: what lies before it in the log comes first, although nobody has met that yet. */
static void replayed_message_does_not_overtake_what_nobody_has_met(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[4];
    enqueue_run(f, "s", 4, ids);
    cancel_one(f, ids[2]);
    replay_all(f);
    struct batch_taken batch = take_run(f, f->owner, ids, 4);
    assert_int_equal(ack_batch(f, f->owner, &batch), 4);
    assert_int_equal(violations(f), 0);
}

/* BX-005, BX-006 */
static void expiring_message_does_not_overtake_what_nobody_has_met(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[4];
    enqueue_run(f, "s", 2, ids);
    boxcar_new_message expiring = new_message("t", "p");
    expiring.stream = BOXCAR_STR("s");
    expiring.ttl_ms = HOUR;
    ids[2] = enqueue_message(f, &expiring).work_id;
    ids[3] = enqueue_in_stream(f, "s", "t");
    for (int i = 0; i < 4;) {
        struct batch_taken some = claim_batch(f, f->owner, 2);
        assert_in_range(some.count, 1, 2);
        assert_taken(&some, ids + i, some.count);
        assert_int_equal(ack_batch(f, f->owner, &some), some.count);
        i += (int)some.count;
    }
    assert_int_equal(violations(f), 0);
}

/* BX-006: a stream that could fill many claims keeps no other from being found. */
static void message_behind_a_long_stream_is_found_while_that_is_in_hands(void **state) {
    struct fixture *f = *state;
    static boxcar_new_message messages[3000];
    for (int i = 0; i < 3000; i++) {
        messages[i] = new_message("t", "p");
        messages[i].stream = BOXCAR_STR("long");
    }
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, 3000, NULL, &f->err));
    boxcar_work_id id = enqueue_in_stream(f, "short", "t");
    struct batch_taken batch = claim_batch(f, f->owner, 4);
    assert_true(batch.count > 0);
    assert_string_equal(batch.streams[0], "long");
    if (strcmp(batch.streams[batch.count - 1], "short") != 0)
        assert_int_equal(take(f, f->other, id).work_id.value, id.value);
    assert_nothing_claimable(f);
    assert_int_equal(ack_batch(f, f->owner, &batch), batch.count);
    batch = claim_batch(f, f->owner, 4);
    assert_true(batch.count > 0);
    assert_string_equal(batch.streams[0], "long");
}

/* BX-003, BX-006: the lease that ended badly takes its stream along, and what others met meanwhile. */
static void stream_in_hands_that_others_met_goes_on_in_order(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[6];
    enqueue_run(f, "s", 6, ids);
    struct batch_taken first = claim_batch(f, f->owner, 3);
    assert_taken(&first, ids, 3);
    assert_nothing_claimable(f); /* the rest was met */
    assert_true(ack(f, f->owner, first.items[0]));
    assert_true(abandon(f, f->owner, first.items[1], 0));
    assert_true(defer(f, f->owner, first.items[2], 0));
    struct batch_taken rest = take_run(f, f->other, ids + 1, 5);
    assert_int_equal(rest.items[0].retry_count, 1);
    assert_int_equal(rest.items[1].retry_count, 0);
    assert_int_equal(ack_batch(f, f->other, &rest), 5);
    assert_int_equal(stats_of(f).done, 6);
    assert_int_equal(violations(f), 0);
}

/* BX-028 */
static void skipping_gives_up_a_message_that_nobody_has_met(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[3], skipped = {0};
    enqueue_run(f, "s", 3, ids);
    ASSERT_OK(f, boxcar_stream_skip(f->store, BOXCAR_OUTBOX, BOXCAR_STR("s"), &skipped, &f->err));
    assert_int_equal(skipped.value, ids[0].value);
    struct batch_taken rest = take_run(f, f->owner, ids + 1, 2);
    assert_int_equal(boxcar_stream_skip(f->store, BOXCAR_OUTBOX, BOXCAR_STR("s"), &skipped, &f->err),
                     BOXCAR_E_CONFLICT);
    assert_int_equal(ack_batch(f, f->owner, &rest), 2);
    assert_int_equal(boxcar_stream_skip(f->store, BOXCAR_OUTBOX, BOXCAR_STR("s"), &skipped, &f->err),
                     BOXCAR_E_NOT_FOUND);
    assert_int_equal(stats_of(f).failed, 1);
}

static int64_t parked_rows(struct fixture *f) {
    return fixture_sql_number(f, "select count(*) from boxcar_parked", "select count(*) from parked");
}

/* A message of a stream leaves no parked row unless something goes wrong. */
static void straight_way_parks_nothing(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[8];
    enqueue_run(f, "s", 8, ids);
    struct batch_taken batch = take_run(f, f->owner, ids, 8);
    assert_int_equal(parked_rows(f), 0);
    assert_int_equal(ack_batch(f, f->owner, &batch), 8);
    assert_int_equal(parked_rows(f), 0);
    enqueue_run(f, "s", 2, ids);
    batch = take_run(f, f->owner, ids, 2);
    assert_true(abandon(f, f->owner, batch.items[0], 0));
    assert_int_equal(parked_rows(f), fixture_is_sqlite(f) ? 2 : 1); /* there its neighbours in hands, too */
}

/* BX-029: programs of schema version 10 know nothing of streams in the log, so there are none where such may
 * be. */
static void store_that_admits_older_programs_sets_streams_aside(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[6];
    if (!fixture_is_sqlite(f))
        skip();
    fixture_sql(f, "update boxcar_schema set oldest_program = 10", NULL);
    enqueue_run(f, "s", 3, ids);
    assert_int_equal(parked_rows(f), 3);
    fixture_sql(f, "update boxcar_schema set oldest_program = 11", NULL);
    enqueue_run(f, "s", 3, ids + 3);
    assert_int_equal(parked_rows(f), 3);
    struct batch_taken batch = take_run(f, f->owner, ids, 6);
    assert_int_equal(ack_batch(f, f->owner, &batch), 6);
    assert_int_equal(parked_rows(f), 0);
}

static const struct CMUnitTest TESTS[] = {
    TEST(replayed_message_does_not_overtake_what_nobody_has_met),
    TEST(expiring_message_does_not_overtake_what_nobody_has_met),
    TEST(message_behind_a_long_stream_is_found_while_that_is_in_hands),
    TEST(stream_in_hands_that_others_met_goes_on_in_order),
    TEST(skipping_gives_up_a_message_that_nobody_has_met),
    TEST(straight_way_parks_nothing),
    TEST(store_that_admits_older_programs_sets_streams_aside),
};

const struct suite STREAM_LOG_SUITE = SUITE(TESTS);
