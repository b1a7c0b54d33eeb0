/* Subscriptions: readers of the same log, each for itself. */
#include "subscriptions.h"

#include "borrow.h"
#include "joins.h"

/* BX-090 */
static void each_reader_gets_each_matching_message_once(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t"), b = subscribe(f, "b", "t");
    boxcar_work_id ids[5];
    enqueue_many(f, "t", 5, ids);
    finish_as(f, a, ids, 5);
    finish_as(f, BOXCAR_OUTBOX, ids, 5);
    finish_as(f, b, ids, 5);
    assert_nothing_for(f, a);
    assert_nothing_for(f, b);
    assert_nothing_for(f, BOXCAR_OUTBOX);
    for (size_t i = 0; i < 5; i++) {
        assert_status_as(f, a, ids[i], BOXCAR_DONE);
        assert_status_as(f, b, ids[i], BOXCAR_DONE);
        assert_status(f, ids[i], BOXCAR_DONE);
    }
    assert_int_equal(audit_lost(f), 0);
}

/* BX-090 */
static void without_a_name_the_main_reader_is_meant(void **state) {
    struct fixture *f = *state;
    boxcar_box reader = subscribe(f, "a", "*");
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    struct taken taken = take(f, f->owner, id);
    assert_true(ack(f, f->owner, taken));
    assert_status(f, id, BOXCAR_DONE);
    assert_status_as(f, reader, id, BOXCAR_READY);
}

/* BX-092 */
static void what_does_not_match_is_passed_over(void **state) {
    struct fixture *f = *state;
    boxcar_box exact = subscribe(f, "exact", "orders"), prefix = subscribe(f, "prefix", "orders.*");
    boxcar_work_id plain = enqueue(f, "orders", "p").work_id, dotted = enqueue(f, "orders.new", "p").work_id,
                   other = enqueue(f, "order", "p").work_id;
    finish_as(f, exact, &plain, 1);
    finish_as(f, prefix, &dotted, 1);
    assert_unknown_to(f, exact, other);
    assert_unknown_to(f, exact, dotted);
    assert_unknown_to(f, prefix, plain);
    assert_int_equal(stats_as(f, exact).done, 1);
    assert_int_equal(stats_as(f, exact).ready, 0);
    boxcar_work_id all[] = {plain, dotted, other};
    finish_as(f, BOXCAR_OUTBOX, all, 3);
}

/* BX-092 */
static void new_patterns_count_for_what_lies_ahead(void **state) {
    struct fixture *f = *state;
    boxcar_box reader = subscribe(f, "a", "old");
    boxcar_str pattern = BOXCAR_STR("new");
    boxcar_subscription_changes changes = BOXCAR_SUBSCRIPTION_CHANGES_INIT;
    boxcar_work_id met = enqueue(f, "old", "p").work_id, missed = enqueue(f, "new", "p").work_id;
    boxcar_work_id last = enqueue(f, "old", "p").work_id;
    boxcar_work_id both[] = {met, last};
    struct batch_taken held = take_as(f, reader, both, 2);
    changes.patterns = &pattern;
    changes.pattern_count = 1;
    ASSERT_OK(f, boxcar_subscription_change(f->store, BOXCAR_STR("a"), &changes, &f->err));
    boxcar_work_id ahead = enqueue(f, "new", "p").work_id;
    enqueue(f, "old", "p");
    finish_as(f, reader, &ahead, 1);
    assert_true(settle_as(f, reader, BOXCAR_ACK, held.items[0]));
    assert_true(settle_as(f, reader, BOXCAR_ACK, held.items[1]));
    assert_unknown_to(f, reader, missed);
}

/* BX-091, BX-003 */
static void retries_of_one_reader_touch_no_other(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t"), b = subscribe(f, "b", "t");
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    struct taken taken = take_one_as(f, a, id);
    boxcar_settlement settlement = settlement_of(taken);
    settlement.delay_ms = 0;
    settlement.error = BOXCAR_STR("not today");
    assert_true(settle_in_box(f, a, BOXCAR_ABANDON, f->owner, &settlement));
    assert_int_equal(take_one_as(f, b, id).retry_count, 0);
    assert_int_equal(take_one_as(f, BOXCAR_OUTBOX, id).retry_count, 0);
    taken = take_one_as(f, a, id);
    assert_int_equal(taken.retry_count, 1);
    boxcar_attempt_list *attempts = NULL;
    ASSERT_OK(f, boxcar_subscription_attempt_read(f->store, a, id, &attempts, &f->err));
    assert_int_equal(attempts->count, 1);
    assert_text(attempts->items[0]->error, "not today");
    boxcar_list_free(attempts);
    ASSERT_OK(f, boxcar_subscription_attempt_read(f->store, b, id, &attempts, &f->err));
    assert_int_equal(attempts->count, 0);
    boxcar_list_free(attempts);
}

/* BX-091, BX-002 */
static void a_lease_of_one_reader_is_not_settled_through_another(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t"), b = subscribe(f, "b", "t");
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    struct taken taken = take_one_as(f, a, id);
    assert_false(settle_as(f, b, BOXCAR_ACK, taken));
    assert_false(settle_as(f, BOXCAR_OUTBOX, BOXCAR_ACK, taken));
    assert_status_as(f, b, id, BOXCAR_READY);
    assert_status_as(f, a, id, BOXCAR_IN_PROGRESS);
    assert_true(settle_as(f, a, BOXCAR_ACK, taken));
    assert_false(settle_as(f, a, BOXCAR_ACK, taken));
}

/* BX-091, BX-003 */
static void an_expired_lease_is_counted_for_its_reader(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    assert_int_equal(claim_as_for(f, a, f->other, 1, 100).count, 1);
    wait_out(f, 100);
    int64_t count = 0;
    ASSERT_OK(f, boxcar_reap(f->store, BOXCAR_OUTBOX, &count, &f->err));
    assert_int_equal(count, 0);
    ASSERT_OK(f, boxcar_reap(f->store, a, &count, &f->err));
    assert_int_equal(count, 1);
    struct taken taken = take_one_as(f, a, id);
    assert_int_equal(taken.retry_count, 1);
    assert_int_equal(taken.crash_count, 1);
    assert_int_equal(take_one_as(f, BOXCAR_OUTBOX, id).retry_count, 0);
}

/* BX-091 */
static void maintenance_reaps_for_subscriptions_too(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    assert_int_equal(claim_as_for(f, a, f->other, 1, 100).count, 1);
    wait_out(f, 100);
    assert_int_equal(maintain_readers(f).reaped, 1);
    assert_status_as(f, a, id, BOXCAR_READY);
    assert_int_equal(stats_as(f, a).ready, 1);
}

static boxcar_message_list *dead_of(struct fixture *f, boxcar_box reader) {
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    boxcar_message_list *list = NULL;
    filter.box = reader;
    ASSERT_OK(f, boxcar_dead_page(f->store, &filter, 100, (boxcar_work_id){0}, &list, &f->err));
    return list;
}

static void assert_dead_count(struct fixture *f, boxcar_box reader, size_t wanted) {
    boxcar_message_list *list = dead_of(f, reader);
    assert_int_equal(list->count, wanted);
    boxcar_list_free(list);
}

/* BX-091, BX-004, BX-025 */
static void a_dead_letter_is_one_readers(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t"), b = subscribe(f, "b", "t");
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    boxcar_settlement settlement = settlement_of(take_one_as(f, a, id));
    settlement.error = BOXCAR_STR("no");
    assert_true(settle_in_box(f, a, BOXCAR_FAIL, f->owner, &settlement));
    assert_status_as(f, a, id, BOXCAR_FAILED);
    assert_dead_count(f, a, 1);
    assert_dead_count(f, b, 0);
    assert_dead_count(f, BOXCAR_OUTBOX, 0);
    finish_as(f, b, &id, 1);
    finish_as(f, BOXCAR_OUTBOX, &id, 1);
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    int64_t count = 0;
    filter.box = b;
    filter.all = true;
    ASSERT_OK(f, boxcar_dead_replay(f->store, &filter, BOXCAR_NO_STR, &count, &f->err));
    assert_int_equal(count, 0);
    filter.box = a;
    ASSERT_OK(f, boxcar_dead_replay(f->store, &filter, BOXCAR_NO_STR, &count, &f->err));
    assert_int_equal(count, 1);
    finish_as(f, a, &id, 1);
    assert_nothing_for(f, BOXCAR_OUTBOX);
    assert_nothing_for(f, b);
    assert_int_equal(audit_lost(f), 0);
}

/* BX-091 */
static void attempts_are_used_up_for_one_reader_alone(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_new_message message = new_message("t", "p");
    message.max_attempts = 1;
    boxcar_work_id id = enqueue_message(f, &message).work_id;
    assert_true(settle_as(f, a, BOXCAR_ABANDON, take_one_as(f, a, id)));
    assert_status_as(f, a, id, BOXCAR_FAILED);
    finish_as(f, BOXCAR_OUTBOX, &id, 1);
}

/* BX-028, BX-091 */
static void cancelling_for_one_reader_leaves_the_others_theirs(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t"), b = subscribe(f, "b", "t");
    boxcar_work_id id = enqueue(f, "t", "p").work_id, next = enqueue(f, "t", "p").work_id;
    boxcar_message_ref ref = {.work_id = id};
    ASSERT_OK(f, boxcar_message_cancel(f->store, a, ref, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, boxcar_message_cancel(f->store, a, ref, &f->err));
    finish_as(f, a, &next, 1);
    assert_status_as(f, a, id, BOXCAR_FAILED);
    ASSERT_OK(f, boxcar_message_cancel(f->store, BOXCAR_OUTBOX, ref, &f->err));
    boxcar_work_id both[] = {id, next};
    finish_as(f, b, both, 2);
    finish_as(f, BOXCAR_OUTBOX, &next, 1);
}

/* BX-004, BX-028 */
static void a_cancelled_message_that_is_replayed_comes_once(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id ids[3];
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    int64_t count = 0;
    enqueue_many(f, "t", 3, ids);
    boxcar_message_ref ref = {.work_id = ids[1]};
    ASSERT_OK(f, boxcar_message_cancel(f->store, a, ref, &f->err));
    filter.box = a;
    filter.all = true;
    ASSERT_OK(f, boxcar_dead_replay(f->store, &filter, BOXCAR_NO_STR, &count, &f->err));
    assert_int_equal(count, 1);
    struct batch_taken all = claim_as(f, a, f->owner, RUN_MAX);
    assert_int_equal(all.count + claim_as(f, a, f->owner, RUN_MAX).count, 3);
}

/* BX-004, BX-028 */
static void a_cancelled_message_that_is_purged_does_not_come(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id ids[2];
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    enqueue_many(f, "t", 2, ids);
    boxcar_message_ref ref = {.work_id = ids[0]};
    ASSERT_OK(f, boxcar_message_cancel(f->store, a, ref, &f->err));
    filter.box = a;
    filter.all = true;
    ASSERT_OK(f, boxcar_dead_purge(f->store, &filter, NULL, &f->err));
    assert_int_equal(stats_as(f, a).ready, 1);
    finish_as(f, a, &ids[1], 1);
    finish_as(f, BOXCAR_OUTBOX, ids, 2);
}

/* BX-005 */
static void due_times_hold_for_every_reader(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_new_message message = new_message("t", "p");
    message.delay_ms = 300;
    boxcar_work_id id = enqueue_message(f, &message).work_id;
    assert_nothing_for(f, a);
    wait_out(f, 300);
    finish_as(f, a, &id, 1);
    finish_as(f, BOXCAR_OUTBOX, &id, 1);
}

/* BX-005 */
static void a_message_expires_for_each_reader(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_new_message message = new_message("t", "p");
    message.ttl_ms = 200;
    boxcar_work_id id = enqueue_message(f, &message).work_id;
    finish_as(f, BOXCAR_OUTBOX, &id, 1);
    wait_out(f, 200);
    assert_nothing_for(f, a);
    assert_status_as(f, a, id, BOXCAR_FAILED);
    assert_status(f, id, BOXCAR_DONE);
}

/* BX-024 */
static void a_claim_wants_what_worker_and_subscription_want(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t.*");
    boxcar_work_id one = enqueue(f, "t.one", "p").work_id, two = enqueue(f, "t.two", "p").work_id;
    enqueue(f, "u", "p");
    boxcar_str topics[] = {BOXCAR_STR("u"), BOXCAR_STR("t.two")};
    boxcar_claimer claimer = *CLAIMER(a, f->owner);
    claimer.topics = topics;
    claimer.topic_count = 2;
    boxcar_message_list *list = NULL;
    ASSERT_OK(f, boxcar_claim(f->store, &claimer, &list, &f->err));
    assert_int_equal(list->count, 1);
    assert_int_equal(list->items[0]->work_id.value, two.value);
    boxcar_list_free(list);
    take_one_as(f, a, one);
}

/* BX-095 */
static void joins_count_the_main_delivery(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "*");
    boxcar_join_id join = start_join(f, 1);
    boxcar_work_id id = enqueue_step(f, join).work_id;
    boxcar_enqueued wait = enqueue_wait(f, join);
    struct taken taken = take_one_as(f, a, id); /* and not the wait */
    assert_true(settle_as(f, a, BOXCAR_FAIL, taken));
    assert_join(f, join, BOXCAR_JOIN_PENDING, 0, 0);
    finish_as(f, BOXCAR_OUTBOX, &id, 1);
    assert_join(f, join, BOXCAR_JOIN_COMPLETED, 1, 0);
    assert_continuation(f, wait, "completed", "yes");
}

/* BX-091: stages and keys are those of the message. */
static void enqueueing_again_is_a_duplicate_as_ever(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_new_message message = new_message("t", "p");
    message.message_id.uuid = boxcar_uuid_new();
    boxcar_work_id id = enqueue_message(f, &message).work_id;
    finish_as(f, a, &id, 1);
    assert_true(enqueue_message(f, &message).duplicate);
    assert_nothing_for(f, a);
}

/* BX-090 */
static void a_subscription_of_the_inbox_reads_the_inbox(void **state) {
    struct fixture *f = *state;
    boxcar_str pattern = BOXCAR_STR("t");
    boxcar_new_subscription subscription = new_subscription("a", &pattern);
    subscription.box = BOXCAR_INBOX;
    boxcar_box a = subscribe_this(f, &subscription);
    boxcar_new_message message = new_message("t", "p");
    message.source = BOXCAR_STR("bank");
    message.external_id = BOXCAR_STR("1");
    boxcar_enqueued enqueued;
    enqueue(f, "t", "p");
    ASSERT_OK(f, boxcar_enqueue(f->store, BOXCAR_INBOX, &message, &enqueued, &f->err));
    boxcar_message_list *list = NULL;
    ASSERT_OK(f, boxcar_claim(f->store, CLAIMER(a, f->owner), &list, &f->err));
    assert_int_equal(list->count, 1);
    assert_int_equal(list->items[0]->work_id.value, enqueued.work_id.value);
    assert_int_equal(list->items[0]->box, BOXCAR_INBOX);
    assert_int_equal(list->items[0]->reader, a);
    assert_text(list->items[0]->external_id, "1");
    boxcar_list_free(list);
}

/* BX-090, design 1: one request for the main reader of one box and a subscription. */
static void a_request_has_a_part_for_a_subscription(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    struct taken held = take_one_as(f, a, id);
    boxcar_settlement settlement = settlement_of(held);
    boxcar_new_message message = new_message("t", "q");
    boxcar_request request = BOXCAR_REQUEST_INIT;
    boxcar_request_part part = BOXCAR_REQUEST_PART_INIT;
    request.owner = f->owner;
    request.messages[BOXCAR_OUTBOX] = (boxcar_new_message_list){&message, 1};
    part.reader = a;
    part.settle[BOXCAR_ACK] = (boxcar_settlement_list){&settlement, 1};
    part.claim_size = 10;
    request.parts[BOXCAR_OUTBOX] = &part;
    boxcar_result *result = NULL;
    ASSERT_OK(f, boxcar_process(f->store, &request, &result, &f->err));
    assert_int_equal(result->settled[BOXCAR_OUTBOX][BOXCAR_ACK].count, 1);
    assert_int_equal(result->claimed[BOXCAR_OUTBOX]->count, 1);
    assert_int_equal(result->claimed[BOXCAR_OUTBOX]->items[0]->reader, a);
    boxcar_result_free(result);
    assert_status_as(f, a, id, BOXCAR_DONE);
    assert_status(f, id, BOXCAR_READY);
}

/* BX-096 */
static void a_pause_stops_claims_and_nothing_else(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id ids[2];
    enqueue_many(f, "t", 2, ids);
    struct batch_taken held = claim_as(f, a, f->owner, 1);
    pause_subscription(f, "a");
    pause_subscription(f, "a");
    assert_true(subscription_of(f, "a").paused_at != BOXCAR_TIME_NONE);
    assert_nothing_for(f, a);
    assert_true(settle_as(f, a, BOXCAR_RENEW, held.items[0]));
    assert_true(settle_as(f, a, BOXCAR_ACK, held.items[0]));
    boxcar_work_id all[] = {ids[0], ids[1], enqueue(f, "t", "p").work_id};
    finish_as(f, BOXCAR_OUTBOX, all, 3);
    resume_subscription(f, "a");
    assert_true(subscription_of(f, "a").paused_at == BOXCAR_TIME_NONE);
    finish_as(f, a, &all[1], 2);
}

/* BX-001, BX-020 */
static void many_claims_bring_each_message_once(void **state) {
    struct fixture *f = *state;
    enum { COUNT = 300 };
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id ids[COUNT];
    enqueue_many(f, "t", COUNT, ids);
    boxcar_owner owners[] = {f->owner, f->other};
    size_t seen = 0;
    for (size_t i = 0; seen < COUNT; i++) {
        struct batch_taken batch = claim_as(f, a, owners[i % 2], 7);
        assert_true(batch.count > 0);
        seen += batch.count;
    }
    assert_int_equal(seen, COUNT);
    assert_nothing_for(f, a);
    assert_int_equal(stats_as(f, a).in_progress, COUNT);
}

/* BX-094 */
static void figures_are_those_of_the_reader(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id ids[4];
    enqueue_many(f, "t", 4, ids);
    enqueue(f, "u", "p");
    struct batch_taken held = claim_as(f, a, f->owner, 3);
    assert_true(settle_as(f, a, BOXCAR_ACK, held.items[0]));
    assert_true(settle_as(f, a, BOXCAR_FAIL, held.items[1]));
    boxcar_stats stats = stats_as(f, a);
    assert_int_equal(stats.ready, 1);
    assert_int_equal(stats.in_progress, 1);
    assert_int_equal(stats.done, 1);
    assert_int_equal(stats.failed, 1);
    boxcar_subscription seen = subscription_of(f, "a");
    assert_int_equal(seen.reader, a);
    assert_int_equal(seen.box, BOXCAR_OUTBOX);
    assert_int_equal(seen.ready, 1);
    assert_int_equal(seen.in_progress, 1);
    assert_int_equal(seen.failed, 1);
    assert_true(seen.oldest_unread_at != BOXCAR_TIME_NONE);
    assert_int_equal(stats_of(f).ready, 5);
}

/* BX-090 */
static void lists_and_numbers_are_by_name(void **state) {
    struct fixture *f = *state;
    boxcar_box b = subscribe(f, "b", "t"), a = subscribe(f, "a", "u.*"), found = -1;
    boxcar_subscription_list *list = NULL;
    ASSERT_OK(f, boxcar_subscription_read(f->store, BOXCAR_NO_STR, &list, &f->err));
    assert_int_equal(list->count, 2);
    assert_text(list->items[0]->name, "a");
    assert_text(list->items[0]->patterns[0], "u.*");
    assert_text(list->items[0]->start_at, "end");
    assert_int_equal(list->items[0]->pattern_count, 1);
    assert_int_equal(list->items[0]->reader, a);
    assert_text(list->items[1]->name, "b");
    boxcar_list_free(list);
    ASSERT_OK(f, boxcar_subscription_find(f->store, BOXCAR_STR("b"), &found, &f->err));
    assert_int_equal(found, b);
}

/* BX-091: pages of messages. */
static void pages_show_what_a_reader_has_to_do_with(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id done = enqueue(f, "t", "p").work_id;
    finish_as(f, a, &done, 1);
    boxcar_work_id unread = enqueue(f, "t", "p").work_id;
    enqueue(f, "u", "p");
    boxcar_message_filter filter = BOXCAR_MESSAGE_FILTER_INIT;
    boxcar_message_list *list = NULL;
    filter.box = a;
    ASSERT_OK(f, boxcar_message_page(f->store, &filter, &list, &f->err));
    assert_int_equal(list->count, 2);
    assert_int_equal(list->items[0]->work_id.value, unread.value);
    assert_int_equal(list->items[0]->status, BOXCAR_READY);
    assert_int_equal(list->items[1]->status, BOXCAR_DONE);
    boxcar_list_free(list);
    filter.by_status = true;
    filter.status = BOXCAR_DONE;
    ASSERT_OK(f, boxcar_message_page(f->store, &filter, &list, &f->err));
    assert_int_equal(list->count, 1);
    boxcar_list_free(list);
}

/* Design 6: the views. */
static void views_show_subscriptions_and_deliveries(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id ids[3];
    enqueue_many(f, "t", 3, ids);
    struct batch_taken held = claim_as(f, a, f->owner, 2);
    assert_true(settle_as(f, a, BOXCAR_FAIL, held.items[0]));
    assert_int_equal(
        fixture_sql_number(f,
                           "select count(*) from boxcar_subscription where name = 'a' and status = 'running'",
                           "select count(*) from subscription where name = 'a' and status = 'running'"),
        1);
    assert_int_equal(fixture_sql_number(f, "select count(*) from boxcar_delivery where subscription = 'a'",
                                        "select count(*) from delivery where subscription = 'a'"),
                     3);
    assert_int_equal(
        fixture_sql_number(f, "select count(*) from boxcar_delivery where status in ('ready', 'in_progress')",
                           "select count(*) from delivery where status in ('ready', 'in_progress')"),
        2);
    assert_int_equal(fixture_sql_number(f, "select count(*) from boxcar_dead_letter where subscription = 'a'",
                                        "select count(*) from dead_letter where subscription = 'a'"),
                     1);
    assert_int_equal(
        fixture_sql_number(f, "select count(*) from boxcar_outbox", "select count(*) from outbox"), 3);
}

static const struct CMUnitTest TESTS[] = {
    TEST(each_reader_gets_each_matching_message_once),
    TEST(without_a_name_the_main_reader_is_meant),
    TEST(what_does_not_match_is_passed_over),
    TEST(new_patterns_count_for_what_lies_ahead),
    TEST(retries_of_one_reader_touch_no_other),
    TEST(a_lease_of_one_reader_is_not_settled_through_another),
    TEST(an_expired_lease_is_counted_for_its_reader),
    TEST(maintenance_reaps_for_subscriptions_too),
    TEST(a_dead_letter_is_one_readers),
    TEST(attempts_are_used_up_for_one_reader_alone),
    TEST(cancelling_for_one_reader_leaves_the_others_theirs),
    TEST(a_cancelled_message_that_is_replayed_comes_once),
    TEST(a_cancelled_message_that_is_purged_does_not_come),
    TEST(due_times_hold_for_every_reader),
    TEST(a_message_expires_for_each_reader),
    TEST(a_claim_wants_what_worker_and_subscription_want),
    TEST(joins_count_the_main_delivery),
    TEST(enqueueing_again_is_a_duplicate_as_ever),
    TEST(a_subscription_of_the_inbox_reads_the_inbox),
    TEST(a_request_has_a_part_for_a_subscription),
    TEST(a_pause_stops_claims_and_nothing_else),
    TEST(many_claims_bring_each_message_once),
    TEST(figures_are_those_of_the_reader),
    TEST(lists_and_numbers_are_by_name),
    TEST(pages_show_what_a_reader_has_to_do_with),
    TEST(views_show_subscriptions_and_deliveries),
};
const struct suite SUBSCRIPTION_SUITE = SUITE(TESTS);
