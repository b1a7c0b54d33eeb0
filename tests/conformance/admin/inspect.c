/* Looking: one message, pages, histories, counts. Nothing here changes anything. */
#include <stdlib.h>

#include "conformance.h"

static void message_is_found_by_either_id(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued enqueued = enqueue(f, "t", "payload");
    boxcar_message_ref refs[2] = {{.work_id = enqueued.work_id}, {.message_id = enqueued.message_id}};
    for (int i = 0; i < 2; i++) {
        boxcar_message_list *list = NULL;
        ASSERT_OK(f, boxcar_message_find(f->store, BOXCAR_OUTBOX, refs[i], &list, &f->err));
        assert_int_equal(look(list)->work_id.value, enqueued.work_id.value);
        assert_same_message_id(look(list)->message_id, enqueued.message_id);
        assert_text(look(list)->payload, "payload");
        boxcar_list_free(list);
    }
}

static void message_that_is_not_there_is_not_found(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued enqueued = enqueue(f, "t", "p");
    boxcar_message_ref by_work_id = {.work_id = {enqueued.work_id.value + 1}},
                       by_message_id = {.message_id = (boxcar_message_id){boxcar_uuid_new()}},
                       here = {.work_id = enqueued.work_id};
    boxcar_message_list *list = NULL;
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND,
                 boxcar_message_find(f->store, BOXCAR_OUTBOX, by_work_id, &list, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND,
                 boxcar_message_find(f->store, BOXCAR_OUTBOX, by_message_id, &list, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_message_find(f->store, BOXCAR_INBOX, here, &list, &f->err));
    assert_null(list);
}

static void assert_page(struct fixture *f, const boxcar_message_filter *options, size_t count,
                        const boxcar_work_id *wanted) {
    boxcar_message_list *list = NULL;
    ASSERT_OK(f, boxcar_message_page(f->store, options, &list, &f->err));
    assert_int_equal(list->count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(list->items[i]->work_id.value, wanted[i].value);
        assert_absent(list->items[i]->payload);
    }
    boxcar_list_free(list);
}

static void pages_list_newest_first_and_continue_without_gaps(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[5];
    enqueue_many(f, "t", 5, ids);
    boxcar_message_filter options = BOXCAR_MESSAGE_FILTER_INIT;
    options.limit = 2;
    assert_page(f, &options, 2, (boxcar_work_id[]){ids[4], ids[3]});
    options.after = ids[3];
    assert_page(f, &options, 2, (boxcar_work_id[]){ids[2], ids[1]});
    options.after = ids[1];
    assert_page(f, &options, 1, &ids[0]);
    options.after = ids[0];
    assert_page(f, &options, 0, NULL);
}

/* One message in each state: ready, waiting, in progress, done, failed (ids 1 to 5). */
static void make_one_of_each(struct fixture *f) {
    enqueue_many(f, "work", 5, NULL);
    struct taken taken[5];
    assert_int_equal(take_all(f, f->owner, 60000, taken, 5), 5);
    assert_true(defer(f, f->owner, taken[0], 0));
    assert_true(abandon(f, f->owner, taken[1], 3600000));
    assert_true(ack(f, f->owner, taken[3]));
    assert_true(bury(f, f->owner, taken[4], "no"));
}

static void pages_can_be_limited_to_a_status(void **state) {
    struct fixture *f = *state;
    make_one_of_each(f);
    boxcar_message_filter options = BOXCAR_MESSAGE_FILTER_INIT;
    options.by_status = true;
    options.status = BOXCAR_READY;
    assert_page(f, &options, 2, (boxcar_work_id[]){{2}, {1}});
    options.readiness = BOXCAR_CLAIMABLE;
    assert_page(f, &options, 1, (boxcar_work_id[]){{1}});
    options.readiness = BOXCAR_WAITING;
    assert_page(f, &options, 1, (boxcar_work_id[]){{2}});
    options.status = BOXCAR_DONE;
    boxcar_message_list *list = NULL;
    ASSERT_INVALID(f, "readiness", boxcar_message_page(f->store, &options, &list, &f->err));
    options.readiness = BOXCAR_READINESS_ANY;
    options.status = BOXCAR_IN_PROGRESS;
    assert_page(f, &options, 1, (boxcar_work_id[]){{3}});
    options.status = BOXCAR_DONE;
    assert_page(f, &options, 1, (boxcar_work_id[]){{4}});
    options.status = BOXCAR_FAILED;
    assert_page(f, &options, 1, (boxcar_work_id[]){{5}});
}

static int64_t count_page(struct fixture *f, boxcar_readiness readiness) {
    boxcar_message_filter options = BOXCAR_MESSAGE_FILTER_INIT;
    boxcar_message_list *list = NULL;
    options.by_status = true;
    options.readiness = readiness;
    ASSERT_OK(f, boxcar_message_page(f->store, &options, &list, &f->err));
    int64_t count = (int64_t)list->count;
    boxcar_list_free(list);
    return count;
}

/* Due later, behind in a stream, in a stream that waits: pages and stats have the same words. BX-005, BX-006
 */
static void pages_of_ready_and_waiting_messages_agree_with_stats(void **state) {
    struct fixture *f = *state;
    boxcar_new_message later = new_message("later", "p");
    later.delay_ms = 3600000;
    enqueue(f, "t", "p");
    for (int i = 0; i < 3; i++) {
        enqueue_streamed(f, "a", "p");
        enqueue_streamed(f, "b", "p");
        enqueue_message(f, &later);
    }
    for (int sorted = 0; sorted < 2; sorted++) {
        boxcar_stats stats = stats_of(f);
        assert_int_equal(stats.ready, 3);
        assert_int_equal(stats.waiting, 7);
        assert_int_equal(count_page(f, BOXCAR_CLAIMABLE), 3);
        assert_int_equal(count_page(f, BOXCAR_WAITING), 7);
        assert_int_equal(count_page(f, BOXCAR_READINESS_ANY), 10);
        boxcar_list_free(claim_topic(f, f->owner, 1, "none"));
    }
}

/* OBX-010 */
static void pages_can_be_limited_to_a_topic_or_a_prefix(void **state) {
    struct fixture *f = *state;
    boxcar_work_id a = enqueue(f, "a.1", "p").work_id, b = enqueue(f, "a.2", "p").work_id;
    boxcar_work_id upper = enqueue(f, "A.1", "p").work_id;
    boxcar_message_filter options = BOXCAR_MESSAGE_FILTER_INIT;
    options.topic = BOXCAR_STR("a.*");
    assert_page(f, &options, 2, (boxcar_work_id[]){b, a});
    options.topic = BOXCAR_STR("A.1");
    assert_page(f, &options, 1, &upper);
    options.topic = BOXCAR_STR("a");
    assert_page(f, &options, 0, NULL);
    options.topic = BOXCAR_NO_STR;
    options.box = BOXCAR_INBOX;
    assert_page(f, &options, 0, NULL);
}

static void stats_count_every_state_once(void **state) {
    struct fixture *f = *state;
    boxcar_stats stats = stats_of(f);
    assert_int_equal(stats.ready + stats.waiting + stats.in_progress + stats.done + stats.failed, 0);
    assert_true(stats.oldest_ready_age_seconds == 0);
    make_one_of_each(f);
    stats = stats_of(f);
    assert_int_equal(stats.ready, 1);
    assert_int_equal(stats.waiting, 1);
    assert_int_equal(stats.in_progress, 1);
    assert_int_equal(stats.done, 1);
    assert_int_equal(stats.failed, 1);
    assert_true(stats.exact);
    assert_true(stats.oldest_ready_age_seconds >= 0 && stats.oldest_ready_age_seconds < 600);
}

/* Deliberately coarse: only that the age grows with time and belongs to what is ready. */
static void age_of_the_oldest_ready_message_grows(void **state) {
    struct fixture *f = *state;
    enqueue(f, "t", "p");
    wait_out(f, 50);
    double age = stats_of(f).oldest_ready_age_seconds;
    assert_true(age >= 0.05 && age < 600);
    boxcar_list_free(claim(f, f->owner, 1));
    assert_true(stats_of(f).oldest_ready_age_seconds == 0);
}

/* The age of the only topic that has messages, and of all. */
static void assert_waits(struct fixture *f, double at_least, double below) {
    boxcar_stats_list *list = NULL;
    ASSERT_OK(f, boxcar_stats_read(f->store, BOXCAR_OUTBOX, true, &list, &f->err));
    assert_int_equal(list->count, 2);
    for (size_t i = 0; i < 2; i++) {
        double age = list->items[i]->oldest_ready_age_seconds;
        assert_true(age >= at_least && age < below);
    }
    boxcar_list_free(list);
}

/* A claim that passes a message does not restart its waiting time: a message, or the head of a stream, that
 * was never claimed waits since it was enqueued. */
static void claimer_of_another_topic_does_not_make_messages_younger(void **state) {
    struct fixture *f = *state;
    for (int streamed = 0; streamed < 2; streamed++) {
        boxcar_new_message message = new_message("lonely", "p");
        message.stream = streamed ? BOXCAR_STR("s") : BOXCAR_NO_STR;
        boxcar_work_id id = enqueue_message(f, &message).work_id;
        fixture_sql(f, "update boxcar_message set created_at = created_at - 3600000000",
                    "update message set created_at = created_at - interval '1 h'");
        fixture_sql(f, "update boxcar_parked set available_at = available_at - 3600000000", NULL);
        boxcar_list_free(claim_topic(f, f->owner, 1, "other"));
        assert_waits(f, 3600, 7200);
        assert_true(ack(f, f->owner, take(f, f->owner, id)));
    }
}

static void message_that_was_tried_waits_since_it_is_available_again(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    fixture_sql(f, "update boxcar_message set created_at = created_at - 3600000000",
                "update message set created_at = created_at - interval '1 h'");
    assert_true(abandon(f, f->owner, take(f, f->owner, id), 0));
    assert_waits(f, 0, 3600);
    assert_true(bury(f, f->owner, take(f, f->owner, id), NULL));
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    filter.all = true;
    ASSERT_OK(f, boxcar_dead_replay(f->store, &filter, BOXCAR_NO_STR, NULL, &f->err));
    assert_waits(f, 0, 3600);
}

enum { BACKLOG = 12000, BACKLOG_TOPICS = 3, CLAIMS = 3, CLAIM_SIZE = 8000 };

static void enqueue_backlog(struct fixture *f, const char *topic) {
    for (int i = 0; i < BACKLOG; i += 4000)
        enqueue_many(f, topic, 4000, NULL);
}

/* Near enough for an estimate, and exact where it says so. */
static void assert_about(const boxcar_stats *stats, unsigned number, int64_t is, int64_t wanted) {
    int64_t off = is > wanted ? is - wanted : wanted - is;
    if (off > (stats->estimated & number ? BACKLOG / 20 : 0))
        fail_msg("%.*s has %lld instead of %lld", (int)stats->topic.len, stats->topic.data, (long long)is,
                 (long long)wanted);
    assert_int_equal(stats->exact, stats->estimated == 0);
}

/* The oldest `done` messages are done, and the next `leased` ones leased. */
static void assert_backlog(struct fixture *f, int64_t done, int64_t leased) {
    static const char *const TOPICS[] = {"bulk.a", "bulk.b", "bulk.c"};
    boxcar_stats_list *list = NULL;
    ASSERT_OK(f, boxcar_stats_read(f->store, BOXCAR_OUTBOX, true, &list, &f->err));
    assert_int_equal(list->count, 1 + BACKLOG_TOPICS);
    const boxcar_stats *all = list->items[0];
    assert_about(all, BOXCAR_STATS_DONE, all->done, done);
    assert_about(all, BOXCAR_STATS_IN_PROGRESS, all->in_progress, leased);
    assert_about(all, BOXCAR_STATS_READY, all->ready, BACKLOG_TOPICS * BACKLOG - done - leased);
    for (int i = 0; i < BACKLOG_TOPICS; i++) {
        const boxcar_stats *stats = list->items[(size_t)i + 1];
        int64_t first = (int64_t)i * BACKLOG, end = first + BACKLOG;
        int64_t of_done = done < first ? 0 : done < end ? done - first : BACKLOG;
        int64_t taken = done + leased < first ? 0 : done + leased < end ? done + leased - first : BACKLOG;
        assert_text(stats->topic, TOPICS[i]);
        assert_about(stats, BOXCAR_STATS_DONE, stats->done, of_done);
        assert_about(stats, BOXCAR_STATS_IN_PROGRESS, stats->in_progress, taken - of_done);
        assert_about(stats, BOXCAR_STATS_READY, stats->ready, BACKLOG - taken);
        assert_int_equal(stats->waiting, 0);
    }
    boxcar_list_free(list);
}

/* Topic after topic in bulk, more than is counted one by one; nobody keeps house. */
static void stats_of_a_large_backlog_have_every_topic_with_its_own_numbers(void **state) {
    struct fixture *f = *state;
    enqueue_backlog(f, "bulk.a");
    enqueue_backlog(f, "bulk.b");
    enqueue_backlog(f, "bulk.c");
    assert_backlog(f, 0, 0);
    boxcar_settlement *settlements = calloc(CLAIM_SIZE, sizeof(*settlements));
    assert_non_null(settlements);
    boxcar_message_list *lists[CLAIMS];
    for (int i = 0; i < CLAIMS; i++) {
        lists[i] = claim(f, f->owner, CLAIM_SIZE);
        assert_int_equal(lists[i]->count, CLAIM_SIZE);
    }
    assert_backlog(f, 0, (int64_t)CLAIMS * CLAIM_SIZE);
    for (int i = 0; i < CLAIMS; i++) {
        size_t affected = 0;
        for (size_t k = 0; k < CLAIM_SIZE; k++) {
            settlements[k] = (boxcar_settlement)BOXCAR_SETTLEMENT_INIT;
            settlements[k].work_id = lists[i]->items[k]->work_id;
        }
        ASSERT_OK(f, boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), BOXCAR_ACK, settlements,
                                   CLAIM_SIZE, NULL, &affected, &f->err));
        assert_int_equal(affected, CLAIM_SIZE);
        boxcar_list_free(lists[i]);
    }
    free(settlements);
    assert_backlog(f, (int64_t)CLAIMS * CLAIM_SIZE, 0);
}

/* The same after a claimer that wants none of them has passed. BX-005 */
static void stats_of_a_large_backlog_that_was_passed_over_are_the_same(void **state) {
    struct fixture *f = *state;
    enqueue_backlog(f, "bulk.a");
    enqueue_backlog(f, "bulk.b");
    enqueue_backlog(f, "bulk.c");
    for (int i = 0; i < 10; i++)
        boxcar_list_free(claim_topic(f, f->owner, 1, "other"));
    assert_backlog(f, 0, 0);
}

static void stats_by_topic_follow_the_row_about_all_in_order_of_names(void **state) {
    struct fixture *f = *state;
    enqueue(f, "b", "p");
    enqueue(f, "a", "p");
    enqueue(f, "b", "p");
    assert_true(ack(f, f->owner, take(f, f->owner, (boxcar_work_id){1})));
    boxcar_stats_list *list = NULL;
    ASSERT_OK(f, boxcar_stats_read(f->store, BOXCAR_OUTBOX, true, &list, &f->err));
    assert_int_equal(list->count, 3);
    assert_absent(list->items[0]->topic);
    assert_int_equal(list->items[0]->ready, 2);
    assert_text(list->items[1]->topic, "a");
    assert_int_equal(list->items[1]->ready, 1);
    assert_text(list->items[2]->topic, "b");
    assert_int_equal(list->items[2]->ready, 1);
    assert_int_equal(list->items[2]->done, 1);
    assert_int_equal(list->count, 3);
    boxcar_list_free(list);
}

/* BX-025 */
static void history_tells_every_bad_attempt_in_order(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    struct taken first = take(f, f->owner, id);
    assert_true(abandon(f, f->owner, first, 0));
    take_for(f, f->other, id, BOXCAR_LEASE_MS_MIN);
    reap_wait(f, 1);
    assert_true(bury(f, f->owner, take(f, f->owner, id), "given up"));

    boxcar_attempt_list *list = NULL;
    ASSERT_OK(f, boxcar_attempt_read(f->store, id, &list, &f->err));
    assert_int_equal(list->count, 3);
    static const char *const OUTCOMES[] = {"abandoned", "lease_expired", "failed"};
    static const int RETRY_COUNTS[] = {1, 2, 2};
    boxcar_time last = 0;
    for (size_t i = 0; i < 3; i++) {
        const boxcar_attempt *attempt = list->items[i];
        assert_text(attempt->outcome, OUTCOMES[i]);
        assert_int_equal(attempt->retry_count, RETRY_COUNTS[i]);
        assert_same_owner(attempt->owner, i == 1 ? f->other : f->owner);
        assert_true(attempt->at >= last);
        last = attempt->at;
    }
    assert_int_equal(list->items[0]->epoch.value, first.epoch.value);
    assert_text(list->items[0]->error, "it did not work");
    assert_text(list->items[2]->error, "given up");
    assert_int_equal(list->count, 3);
    boxcar_list_free(list);
}

/* BX-025 */
static void message_without_trouble_has_no_history(void **state) {
    struct fixture *f = *state;
    boxcar_attempt_list *list = NULL;
    ASSERT_OK(f, boxcar_attempt_read(f->store, enqueue_done(f, "t").work_id, &list, &f->err));
    assert_int_equal(list->count, 0);
    boxcar_list_free(list);
}

/* OBX-111 */
static void view_named_outbox_shows_a_row_per_message_with_its_status(void **state) {
    struct fixture *f = *state;
    make_one_of_each(f);
    assert_int_equal(
        fixture_sql_number(f, "select count(*) from boxcar_outbox", "select count(*) from outbox"), 5);
    static const char *const COUNTS[][2] = {
        {"select count(*) from boxcar_outbox where status = 'ready' and work_id in (1, 2)",
         "select count(*) from outbox where status = 'ready' and work_id in (1, 2)"},
        {"select 2 * count(*) from boxcar_outbox where status = 'in_progress' and work_id = 3 and owner is "
         "not null",
         "select 2 * count(*) from outbox where status = 'in_progress' and work_id = 3 and owner is not "
         "null"},
        {"select 2 * count(*) from boxcar_outbox where status = 'done' and is_processed and work_id = 4",
         "select 2 * count(*) from outbox where status = 'done' and is_processed and work_id = 4"},
        {"select 2 * count(*) from boxcar_outbox where status = 'failed' and not is_processed and work_id = "
         "5",
         "select 2 * count(*) from outbox where status = 'failed' and not is_processed and work_id = 5"},
        {"select 2 * count(*) from boxcar_dead_letter where work_id = 5 and reason = 'rejected'",
         "select 2 * count(*) from dead_letter where work_id = 5 and reason = 'rejected'"},
    };
    for (size_t i = 0; i < sizeof(COUNTS) / sizeof(COUNTS[0]); i++)
        assert_int_equal(fixture_sql_number(f, COUNTS[i][0], COUNTS[i][1]), 2);
    assert_int_equal(fixture_sql_number(f, "select count(*) from boxcar_inbox", "select count(*) from inbox"),
                     0);
}

/* What became of attempts is the message's for good: an ack does not make it forget. */
static void crashes_are_counted_whatever_became_of_the_message(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = new_message("t", "p");
    message.max_attempts = 7;
    boxcar_work_id id = enqueue_message(f, &message).work_id;
    take_for(f, f->owner, id, BOXCAR_LEASE_MS_MIN);
    reap_wait(f, 1);
    struct taken taken = take(f, f->owner, id);
    for (int acked = 0; acked < 2; acked++) {
        if (acked)
            assert_true(ack(f, f->owner, taken));
        boxcar_message_list *list = find(f, id);
        assert_int_equal(look(list)->retry_count, 1);
        assert_int_equal(look(list)->crash_count, 1);
        boxcar_list_free(list);
        assert_int_equal(
            fixture_sql_number(
                f, "select crash_count * 10 + max_attempts from boxcar_outbox where retry_count = 1",
                "select crash_count * 10 + max_attempts from outbox where retry_count = 1"),
            17);
    }
}

/* A replay begins anew. */
static void crashes_before_a_replay_do_not_count(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    take_for(f, f->owner, id, BOXCAR_LEASE_MS_MIN);
    reap_wait(f, 1);
    assert_true(bury(f, f->owner, take(f, f->owner, id), "no"));
    assert_int_equal(
        fixture_sql_number(f, "select crash_count from boxcar_dead_letter where max_attempts is null",
                           "select crash_count from dead_letter where max_attempts is null"),
        1);
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    filter.all = true;
    ASSERT_OK(f, boxcar_dead_replay(f->store, &filter, BOXCAR_NO_STR, NULL, &f->err));
    assert_true(ack(f, f->owner, take(f, f->owner, id)));
    boxcar_message_list *list = find(f, id);
    assert_int_equal(look(list)->retry_count, 0);
    assert_int_equal(look(list)->crash_count, 0);
    boxcar_list_free(list);
    assert_int_equal(
        fixture_sql_number(f, "select crash_count from boxcar_outbox", "select crash_count from outbox"), 0);
}

static void view_of_receipts_has_the_id_of_the_message(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    message.source = BOXCAR_STR("shop");
    message.external_id = BOXCAR_STR("1");
    message.topic = BOXCAR_STR("t");
    message.payload = BOXCAR_STR("p");
    ASSERT_OK(f, boxcar_enqueue(f->store, BOXCAR_INBOX, &message, NULL, &f->err));
    assert_int_equal(
        fixture_sql_number(f,
                           "select count(*) from boxcar_inbox_receipt r join boxcar_inbox i "
                           "on i.message_id = r.message_id and i.crash_count = 0 and i.max_attempts is null",
                           "select count(*) from inbox_receipt r join inbox i "
                           "on i.message_id = r.message_id and i.crash_count = 0 and i.max_attempts is null"),
        1);
}

static const struct CMUnitTest TESTS[] = {
    TEST(message_is_found_by_either_id),
    TEST(message_that_is_not_there_is_not_found),
    TEST(pages_list_newest_first_and_continue_without_gaps),
    TEST(pages_can_be_limited_to_a_status),
    TEST(pages_of_ready_and_waiting_messages_agree_with_stats),
    TEST(pages_can_be_limited_to_a_topic_or_a_prefix),
    TEST(stats_count_every_state_once),
    TEST(age_of_the_oldest_ready_message_grows),
    TEST(claimer_of_another_topic_does_not_make_messages_younger),
    TEST(message_that_was_tried_waits_since_it_is_available_again),
    TEST(stats_of_a_large_backlog_have_every_topic_with_its_own_numbers),
    TEST(stats_of_a_large_backlog_that_was_passed_over_are_the_same),
    TEST(stats_by_topic_follow_the_row_about_all_in_order_of_names),
    TEST(history_tells_every_bad_attempt_in_order),
    TEST(message_without_trouble_has_no_history),
    TEST(view_named_outbox_shows_a_row_per_message_with_its_status),
    TEST(crashes_are_counted_whatever_became_of_the_message),
    TEST(crashes_before_a_replay_do_not_count),
    TEST(view_of_receipts_has_the_id_of_the_message),
};

const struct suite INSPECT_SUITE = SUITE(TESTS);
