/* Several messages of a stream in one claim: neighbours, in order; no other claimer gets any of the
 * stream meanwhile. */
#include <stdio.h>
#include <string.h>

#include "boxes.h"
#include "streams.h"

/* BX-062 */
static void claim_brings_neighbours_of_a_stream_in_order(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[20];
    enqueue_run(f, "s", 12, ids);
    struct batch_taken first = take_run(f, f->owner, ids, 12);
    enqueue_run(f, "s", 8, ids + 12);
    assert_nothing_claimable(f);
    assert_int_equal(stats_of(f).in_progress, 12);
    assert_int_equal(stats_of(f).waiting, 8);
    assert_int_equal(ack_batch(f, f->owner, &first), 12);
    struct batch_taken rest = take_run(f, f->other, ids + 12, 8);
    assert_int_equal(ack_batch(f, f->other, &rest), 8);
    assert_nothing_claimable(f);
    assert_int_equal(stats_of(f).done, 20);
    assert_int_equal(violations(f), 0);
}

/* BX-062 */
static void messages_that_were_enqueued_one_by_one_come_together_too(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[5];
    for (int i = 0; i < 5; i++)
        ids[i] = enqueue_streamed(f, "s", "p").work_id;
    take_run(f, f->owner, ids, 5);
}

/* BX-062: at least half of the room; on SQLite all of it, when nothing else wants it. */
static void lone_stream_may_fill_a_claim(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[40];
    enqueue_run(f, "s", 40, ids);
    struct batch_taken batch = claim_batch(f, f->owner, 20);
    assert_in_range(batch.count, fixture_is_sqlite(f) ? 20 : 10, 20);
    assert_taken(&batch, ids, batch.count);
}

/* How many of a stream a claim brought; they must be its first ones. */
static size_t count_of(const struct batch_taken *batch, const char *stream, const boxcar_work_id *ids) {
    size_t count = 0;
    for (size_t i = 0; i < batch->count; i++) {
        if (strcmp(batch->streams[i], stream) == 0)
            assert_int_equal(batch->items[i].work_id.value, ids[count++].value);
    }
    return count;
}

/* BX-062 */
static void due_streams_share_the_room_of_a_claim(void **state) {
    struct fixture *f = *state;
    boxcar_work_id a[10], b[10], c[10], d[10];
    enqueue_run(f, "a", 10, a);
    enqueue_run(f, "b", 10, b);
    enqueue_run(f, "c", 10, c);
    enqueue_run(f, "d", 10, d);
    struct batch_taken batch = claim_batch(f, f->owner, 16);
    size_t counts[] = {count_of(&batch, "a", a), count_of(&batch, "b", b), count_of(&batch, "c", c),
                       count_of(&batch, "d", d)};
    assert_true(batch.count > 4);
    for (int i = 0; i < 4; i++)
        assert_in_range(counts[i], 1, 5);
    assert_nothing_claimable(f);
}

/* BX-062, BX-006 */
static void more_streams_than_room_bring_one_message_each(void **state) {
    struct fixture *f = *state;
    boxcar_work_id heads[8], ids[3];
    char name[8];
    for (int i = 0; i < 8; i++) {
        snprintf(name, sizeof(name), "s%d", i);
        enqueue_run(f, name, 3, ids);
        heads[i] = ids[0];
    }
    struct batch_taken batch = claim_batch(f, f->owner, 5), rest = claim_batch(f, f->other, 3);
    assert_int_equal(batch.count, 5);
    assert_int_equal(rest.count, 3);
    int64_t sum = 0, wanted = 0;
    for (size_t i = 0; i < 8; i++) {
        sum += i < 5 ? batch.items[i].work_id.value : rest.items[i - 5].work_id.value;
        wanted += heads[i].value;
    }
    assert_int_equal(sum, wanted);
    assert_nothing_claimable(f);
}

/* BX-062, BX-005 */
static void run_stops_before_a_message_that_is_not_due(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[4];
    enqueue_run(f, "s", 2, ids);
    boxcar_new_message later = new_message("t", "p");
    later.stream = BOXCAR_STR("s");
    later.delay_ms = HOUR;
    ids[2] = enqueue_message(f, &later).work_id;
    ids[3] = enqueue_streamed(f, "s", "p").work_id;
    struct batch_taken batch = take_run(f, f->owner, ids, 2);
    assert_int_equal(ack_batch(f, f->owner, &batch), 2);
    assert_nothing_claimable(f);
    boxcar_message_ref ref = {.work_id = ids[2]};
    ASSERT_OK(f, boxcar_message_cancel(f->store, BOXCAR_OUTBOX, ref, &f->err));
    take_run(f, f->owner, ids + 3, 1);
}

/* BX-062, BX-003: the middle one of three crashes its worker, the first one does not. */
static void run_stops_before_a_suspect_which_comes_alone(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[3];
    enqueue_run(f, "s", 2, ids);
    struct batch_taken batch = take_run_for(f, f->owner, ids, 2, BOXCAR_LEASE_MS_MIN);
    enqueue_run(f, "s", 1, ids + 2);
    assert_true(renew(f, f->owner, batch.items[0], 30000));
    reap_wait(f, 1);
    assert_nothing_claimable(f);
    assert_true(defer(f, f->owner, batch.items[0], 0));
    batch = take_run(f, f->owner, ids, 1);
    assert_int_equal(batch.items[0].crash_count, 0);
    assert_true(ack(f, f->owner, batch.items[0]));
    batch = take_run(f, f->owner, ids + 1, 1);
    assert_int_equal(batch.items[0].crash_count, 1);
    assert_true(ack(f, f->owner, batch.items[0]));
    take_run(f, f->owner, ids + 2, 1);
}

/* BX-062, BX-024 */
static void run_stops_before_a_topic_that_is_not_wanted(void **state) {
    struct fixture *f = *state;
    boxcar_work_id first = enqueue_in_stream(f, "s", "wanted"), second = enqueue_in_stream(f, "s", "wanted");
    enqueue_in_stream(f, "s", "other");
    enqueue_in_stream(f, "s", "wanted");
    boxcar_message_list *list = claim_topic(f, f->owner, 10, "wanted");
    assert_int_equal(list->count, 2);
    assert_int_equal(list->items[0]->work_id.value, first.value);
    assert_int_equal(list->items[1]->work_id.value, second.value);
    boxcar_list_free(list);
}

/* BX-062, BX-024 */
static void run_goes_on_over_all_topics_that_are_wanted(void **state) {
    struct fixture *f = *state;
    boxcar_str topics[] = {BOXCAR_STR("a"), BOXCAR_STR("b.*")};
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    boxcar_message_list *list = NULL;
    enqueue_in_stream(f, "s", "a");
    enqueue_in_stream(f, "s", "b.1");
    enqueue_in_stream(f, "s", "a");
    enqueue_in_stream(f, "s", "c");
    options.owner = f->owner;
    options.batch_size = 10;
    options.topics = topics;
    options.topic_count = 2;
    ASSERT_OK(f, boxcar_claim(f->store, &options, &list, &f->err));
    assert_int_equal(list->count, 3);
    boxcar_list_free(list);
}

/* BX-062, BX-005 */
static void expired_message_is_no_part_of_a_run(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[3];
    ids[0] = enqueue_streamed(f, "s", "p").work_id;
    boxcar_new_message brief = new_message("t", "p");
    brief.stream = BOXCAR_STR("s");
    brief.ttl_ms = 1;
    ids[1] = enqueue_message(f, &brief).work_id;
    ids[2] = enqueue_streamed(f, "s", "p").work_id;
    wait_out(f, 2);
    for (size_t done = 0; done < 2;) {
        struct batch_taken batch = claim_batch(f, f->owner, 10);
        assert_true(batch.count > 0);
        for (size_t i = 0; i < batch.count; i++)
            assert_int_equal(batch.items[i].work_id.value, ids[2 * done++].value);
        assert_int_equal(ack_batch(f, f->owner, &batch), batch.count);
    }
    assert_dead(f, ids[1], BOXCAR_REASON_EXPIRED);
}

/* BX-006, BX-062 */
static void nothing_of_a_stream_is_handed_out_while_any_of_it_is_leased(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[5];
    enqueue_run(f, "s", 3, ids);
    struct batch_taken batch = take_run(f, f->owner, ids, 3);
    enqueue_run(f, "s", 2, ids + 3);
    for (int i = 0; i < 3; i++) {
        assert_nothing_claimable(f);
        assert_int_equal(stream_of(f, "s").pending, 5 - i);
        assert_true(ack(f, f->owner, batch.items[i]));
    }
    take_run(f, f->other, ids + 3, 2);
}

/* BX-062: a worker whose first message failed gives the others back. */
static void what_is_given_back_comes_again_in_order(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[6];
    enqueue_run(f, "s", 5, ids);
    struct batch_taken batch = take_run(f, f->owner, ids, 5);
    enqueue_run(f, "s", 1, ids + 5);
    assert_true(ack(f, f->owner, batch.items[0]));
    assert_true(abandon(f, f->owner, batch.items[1], 0));
    assert_nothing_claimable(f);
    for (int i = 4; i > 1; i--)
        assert_true(defer(f, f->owner, batch.items[i], 0));
    batch = take_run(f, f->other, ids + 1, 5);
    assert_int_equal(batch.items[0].retry_count, 1);
    assert_int_equal(batch.items[1].retry_count, 0);
    assert_int_equal(ack_batch(f, f->other, &batch), 5);
    assert_int_equal(violations(f), 0);
}

/* BX-006, BX-061: what comes back waits for the one in hands, and was not worked on out of order. */
static void what_is_given_back_waits_for_the_one_in_hands(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[3];
    enqueue_run(f, "s", 3, ids);
    struct batch_taken batch = take_run(f, f->owner, ids, 3);
    assert_true(abandon(f, f->owner, batch.items[1], 0));
    assert_true(defer(f, f->owner, batch.items[2], 0));
    assert_int_equal(stats_of(f).ready, 0);
    assert_int_equal(stats_of(f).waiting, 2);
    assert_true(ack(f, f->owner, batch.items[0]));
    assert_int_equal(violations(f), 0);
    assert_int_equal(stats_of(f).ready, 1);
    batch = take_run(f, f->other, ids + 1, 2);
    assert_int_equal(ack_batch(f, f->other, &batch), 2);
}

/* BX-006 */
static void run_behind_a_message_that_waits_for_its_retry_waits_too(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[3], other;
    enqueue_run(f, "s", 3, ids);
    struct batch_taken batch = take_run(f, f->owner, ids, 3);
    assert_true(abandon(f, f->owner, batch.items[0], HOUR));
    assert_true(defer(f, f->owner, batch.items[1], 0));
    assert_true(defer(f, f->owner, batch.items[2], 0));
    assert_nothing_claimable(f);
    other = enqueue_streamed(f, "other", "p").work_id;
    take_run(f, f->owner, &other, 1);
}

/* BX-003, BX-062 */
static void crash_costs_each_of_a_run_an_attempt_and_they_come_alone(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[3];
    enqueue_run(f, "s", 3, ids);
    struct batch_taken lost = take_run_for(f, f->owner, ids, 3, BOXCAR_LEASE_MS_MIN);
    reap_wait(f, 3);
    assert_int_equal(ack_batch(f, f->owner, &lost), 0);
    for (int i = 0; i < 3; i++) {
        struct batch_taken batch = take_run(f, f->other, ids + i, 1);
        assert_int_equal(batch.items[0].retry_count, 1);
        assert_nothing_claimable(f);
        assert_true(ack(f, f->other, batch.items[0]));
    }
}

/* BX-020, BX-062 */
static void long_stream_and_plain_messages_share_a_claim(void **state) {
    struct fixture *f = *state;
    enqueue_run(f, "s", 50, NULL);
    enqueue_many(f, "t", 50, NULL);
    struct batch_taken batch = claim_batch(f, f->owner, 20);
    size_t plain = 0;
    assert_int_equal(batch.count, 20);
    for (size_t i = 0; i < batch.count; i++)
        plain += batch.streams[i][0] == '\0';
    assert_in_range(plain, 5, 15);
}

/* BX-062 */
static void run_that_is_acked_in_one_call_in_any_order_is_no_violation(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[4];
    enqueue_run(f, "s", 4, ids);
    struct batch_taken batch = take_run(f, f->owner, ids, 4), backwards = {.count = 4};
    for (int i = 0; i < 4; i++)
        backwards.items[i] = batch.items[3 - i];
    assert_int_equal(ack_batch(f, f->owner, &backwards), 4);
    assert_int_equal(violations(f), 0);
}

/* BX-006 */
static void ack_before_an_earlier_one_is_finished_leaves_evidence_and_counts(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[5];
    enqueue_run(f, "s", 5, ids);
    struct batch_taken batch = take_run(f, f->owner, ids, 5);
    assert_true(ack(f, f->owner, batch.items[1])); /* 0 is in its hands */
    assert_int_equal(violations(f), 1);
    assert_int_equal(fixture_sql_number(f,
                                        "select earlier_id from boxcar_stream_violation where stream = 's'",
                                        "select earlier_id from stream_violation where stream = 's'"),
                     ids[0].value);
    assert_int_equal(fixture_sql_number(f, "select work_id from boxcar_stream_violation",
                                        "select work_id from stream_violation"),
                     ids[1].value);
    assert_true(ack(f, f->owner, batch.items[0]));
    assert_int_equal(violations(f), 1);
    assert_true(abandon(f, f->owner, batch.items[2], 0));
    assert_true(ack(f, f->owner, batch.items[3])); /* 2 was tried */
    assert_int_equal(violations(f), 2);
    assert_status(f, ids[3], BOXCAR_DONE);
    assert_true(defer(f, f->owner, batch.items[4], 0));
    batch = claim_batch(f, f->owner, 10);
    assert_int_equal(batch.count, 2);
    assert_int_equal(ack_batch(f, f->owner, &batch), 2);
    assert_int_equal(violations(f), 2);
}

static void evidence_is_kept_as_long_as_dead_letters(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[2];
    enqueue_run(f, "s", 2, ids);
    struct batch_taken batch = take_run(f, f->owner, ids, 2);
    assert_true(ack(f, f->owner, batch.items[1]));
    assert_true(ack(f, f->owner, batch.items[0]));
    ASSERT_OK(f, boxcar_maintenance_run(f->store, NULL, &f->err));
    assert_int_equal(violations(f), 1);
    set_setting(f, "retention_dead", "0");
    ASSERT_OK(f, boxcar_maintenance_run(f->store, NULL, &f->err));
    assert_int_equal(violations(f), 0);
}

/* BX-006: nobody had the earlier one yet. */
static void replay_behind_a_leased_message_is_no_violation(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[2];
    enqueue_run(f, "s", 2, ids);
    assert_true(bury(f, f->owner, take(f, f->owner, ids[0]), "no"));
    struct taken second = take(f, f->owner, ids[1]);
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    int64_t count = 0;
    filter.all = true;
    ASSERT_OK(f, boxcar_dead_replay(f->store, &filter, BOXCAR_NO_STR, &count, &f->err));
    assert_int_equal(count, 1);
    assert_nothing_claimable(f);
    assert_true(ack(f, f->owner, second));
    assert_int_equal(violations(f), 0);
    take_run(f, f->owner, ids, 1);
}

/* BX-062 */
static void batch_that_acks_a_run_brings_the_next_one(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[30];
    boxcar_settlement settlements[8];
    struct batch batch = batch_for(f->owner);
    boxcar_request_part *part = &batch.parts[BOXCAR_OUTBOX];
    size_t done = 0, rounds = 0;
    enqueue_run(f, "s", 30, ids);
    part->claim_size = 8;
    for (; done < 30; rounds++) {
        boxcar_result *result = send_batch(f, &batch);
        const boxcar_message_list *claimed = result->claimed[BOXCAR_OUTBOX];
        assert_int_equal(result->settled[BOXCAR_OUTBOX][BOXCAR_ACK].count, part->settle[BOXCAR_ACK].count);
        assert_in_range(claimed->count, 1, 8);
        for (size_t i = 0; i < claimed->count; i++) {
            assert_int_equal(claimed->items[i]->work_id.value, ids[done++].value);
            settlements[i] = BOXCAR_SETTLEMENT_INIT;
            settlements[i].work_id = claimed->items[i]->work_id;
            settlements[i].epoch = claimed->items[i]->epoch;
        }
        part->settle[BOXCAR_ACK] = (boxcar_settlement_list){settlements, claimed->count};
        boxcar_result_free(result);
    }
    assert_true(rounds < 30); /* several at a time */
}

static const struct CMUnitTest TESTS[] = {
    TEST(claim_brings_neighbours_of_a_stream_in_order),
    TEST(messages_that_were_enqueued_one_by_one_come_together_too),
    TEST(lone_stream_may_fill_a_claim),
    TEST(due_streams_share_the_room_of_a_claim),
    TEST(more_streams_than_room_bring_one_message_each),
    TEST(run_stops_before_a_message_that_is_not_due),
    TEST(run_stops_before_a_suspect_which_comes_alone),
    TEST(run_stops_before_a_topic_that_is_not_wanted),
    TEST(run_goes_on_over_all_topics_that_are_wanted),
    TEST(expired_message_is_no_part_of_a_run),
    TEST(nothing_of_a_stream_is_handed_out_while_any_of_it_is_leased),
    TEST(what_is_given_back_comes_again_in_order),
    TEST(what_is_given_back_waits_for_the_one_in_hands),
    TEST(run_behind_a_message_that_waits_for_its_retry_waits_too),
    TEST(crash_costs_each_of_a_run_an_attempt_and_they_come_alone),
    TEST(long_stream_and_plain_messages_share_a_claim),
    TEST(run_that_is_acked_in_one_call_in_any_order_is_no_violation),
    TEST(ack_before_an_earlier_one_is_finished_leaves_evidence_and_counts),
    TEST(evidence_is_kept_as_long_as_dead_letters),
    TEST(replay_behind_a_leased_message_is_no_violation),
    TEST(batch_that_acks_a_run_brings_the_next_one),
};

const struct suite STREAM_RUN_SUITE = SUITE(TESTS);
