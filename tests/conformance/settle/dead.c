/* Failing and dead letters: listing, replaying, purging. */
#include <string.h>

#include "conformance.h"

/* OBX-042, OBX-043, BX-025 */
static void failed_message_is_a_dead_letter_with_its_error(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued enqueued = enqueue_dead(f, "t", "card refused");
    assert_dead(f, enqueued.work_id, BOXCAR_REASON_REJECTED);
    boxcar_message_list *list = find(f, enqueued.work_id);
    assert_text(look(list)->last_error, "card refused");
    assert_text(look(list)->payload, "p");
    assert_true(boxcar_uuid_is_none(look(list)->owner.uuid));
    boxcar_list_free(list);
    assert_int_equal(stats_of(f).failed, 1);
}

/* OBX-042, OBX-048, BX-004 */
static void failed_message_never_comes_back_by_itself(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    struct taken taken = take_for(f, f->owner, id, BOXCAR_LEASE_MS_MIN);
    assert_true(bury(f, f->owner, taken, "no"));
    wait_out(f, BOXCAR_LEASE_MS_MIN);
    assert_int_equal(reap(f), 0);
    assert_nothing_claimable(f);
    assert_false(ack(f, f->owner, taken));
    assert_false(abandon(f, f->owner, taken, 0));
    assert_false(defer(f, f->owner, taken, 0));
    assert_false(renew(f, f->owner, taken, 30000));
    assert_dead(f, id, BOXCAR_REASON_REJECTED);
}

/* OBX-044, OBX-045, BX-002 */
static void fail_passes_over_what_is_not_the_owners(void **state) {
    struct fixture *f = *state;
    struct taken taken = take(f, f->owner, enqueue(f, "t", "p").work_id), wrong = taken, unknown = taken;
    wrong.epoch.value++;
    unknown.work_id.value = 555555;
    assert_false(bury(f, f->other, taken, "no"));
    assert_false(bury(f, f->owner, wrong, "no"));
    assert_false(bury(f, f->owner, unknown, "no"));
    assert_status(f, taken.work_id, BOXCAR_IN_PROGRESS);
    assert_true(ack(f, f->owner, taken));
}

/* BX-025, BX-003 */
static void message_dies_when_its_attempts_are_used_up(void **state) {
    struct fixture *f = *state;
    set_setting(f, "max_attempts", "3");
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    for (int i = 0; i < 3; i++) {
        assert_status(f, id, BOXCAR_READY);
        assert_true(abandon(f, f->owner, take(f, f->owner, id), 0));
    }
    assert_dead(f, id, BOXCAR_REASON_EXHAUSTED);
    assert_int_equal(retry_count_of(f, id), 3);
    assert_nothing_claimable(f);
}

/* BX-025 */
static void ten_attempts_are_the_default_and_a_message_may_have_its_own(void **state) {
    struct fixture *f = *state;
    boxcar_new_message one_try = new_message("t", "p");
    one_try.max_attempts = 1;
    boxcar_work_id id = enqueue_message(f, &one_try).work_id;
    assert_true(abandon(f, f->owner, take(f, f->owner, id), 0));
    assert_dead(f, id, BOXCAR_REASON_EXHAUSTED);
    id = enqueue(f, "t", "p").work_id;
    for (int i = 0; i < 9; i++)
        assert_true(abandon(f, f->owner, take(f, f->owner, id), 0));
    assert_status(f, id, BOXCAR_READY);
    assert_true(abandon(f, f->owner, take(f, f->owner, id), 0));
    assert_dead(f, id, BOXCAR_REASON_EXHAUSTED);
}

/* BX-010 */
static void error_text_is_cut_at_4096_bytes_between_characters(void **state) {
    struct fixture *f = *state;
    char error[3 * 2000 + 1];
    for (size_t i = 0; i < 2000; i++)
        memcpy(error + 3 * i, "\xe2\x82\xac", 3);
    error[6000] = '\0';
    boxcar_enqueued enqueued = enqueue_dead(f, "t", error);
    boxcar_message_list *list = find(f, enqueued.work_id);
    assert_int_equal(look(list)->last_error.len, 4095);
    assert_memory_equal(look(list)->last_error.data, error, 4095);
    boxcar_list_free(list);
}

static boxcar_message_list *dead_page(struct fixture *f, const boxcar_dead_filter *filter, int limit,
                                      int64_t after) {
    boxcar_message_list *list = NULL;
    ASSERT_OK(f, boxcar_dead_page(f->store, filter, limit, (boxcar_work_id){after}, &list, &f->err));
    return list;
}

static void assert_dead_ids(struct fixture *f, const boxcar_dead_filter *filter, int64_t after, size_t count,
                            const boxcar_work_id *wanted) {
    boxcar_message_list *list = dead_page(f, filter, 2, after);
    assert_int_equal(list->count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(list->items[i]->work_id.value, wanted[i].value);
    boxcar_list_free(list);
}

/* BX-025 */
static void dead_letters_are_listed_newest_first_in_pages_without_payload(void **state) {
    struct fixture *f = *state;
    boxcar_work_id a = enqueue_dead(f, "t", "a").work_id, b = enqueue_dead(f, "t", "b").work_id,
                   c = enqueue_dead(f, "t", "c").work_id;
    enqueue_done(f, "t");
    enqueue(f, "t", "alive");
    boxcar_dead_filter any = BOXCAR_DEAD_FILTER_INIT;
    assert_dead_ids(f, &any, 0, 2, (boxcar_work_id[]){c, b});
    assert_dead_ids(f, &any, b.value, 1, &a);
    assert_dead_ids(f, &any, a.value, 0, NULL);
    boxcar_message_list *list = dead_page(f, &any, 1, 0);
    const boxcar_message *m = look(list);
    assert_absent(m->payload);
    assert_int_equal(m->status, BOXCAR_FAILED);
    assert_int_equal(m->reason, BOXCAR_REASON_REJECTED);
    assert_text(m->last_error, "c");
    boxcar_list_free(list);
}

/* BX-025 */
static void dead_letters_are_filtered_by_topic_reason_time_and_id(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued rejected = enqueue_dead(f, "mail.out", "no");
    boxcar_new_message one_try = new_message("mail.in", "p");
    one_try.max_attempts = 1;
    boxcar_enqueued exhausted = enqueue_message(f, &one_try);
    assert_true(abandon(f, f->owner, take(f, f->owner, exhausted.work_id), 0));

    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    filter.topic = BOXCAR_STR("mail.*");
    assert_dead_ids(f, &filter, 0, 2, (boxcar_work_id[]){exhausted.work_id, rejected.work_id});
    filter.topic = BOXCAR_STR("mail.out");
    assert_dead_ids(f, &filter, 0, 1, &rejected.work_id);
    filter.reason = BOXCAR_REASON_EXHAUSTED;
    assert_dead_ids(f, &filter, 0, 0, NULL);
    filter.topic = BOXCAR_NO_STR;
    assert_dead_ids(f, &filter, 0, 1, &exhausted.work_id);

    boxcar_dead_filter by_time = BOXCAR_DEAD_FILTER_INIT;
    by_time.before = database_now(f) - INT64_C(3600) * 1000000;
    assert_dead_ids(f, &by_time, 0, 0, NULL);
    by_time.before = database_now(f) + INT64_C(3600) * 1000000;
    assert_dead_ids(f, &by_time, 0, 2, (boxcar_work_id[]){exhausted.work_id, rejected.work_id});

    boxcar_message_ref refs[2] = {{.message_id = rejected.message_id}, {.work_id = {99999}}};
    boxcar_dead_filter by_ref = BOXCAR_DEAD_FILTER_INIT;
    by_ref.refs = refs;
    by_ref.ref_count = 2;
    assert_dead_ids(f, &by_ref, 0, 1, &rejected.work_id);
}

static int64_t replay(struct fixture *f, const boxcar_dead_filter *filter, const char *note) {
    int64_t count = -1;
    ASSERT_OK(f, boxcar_dead_replay(f->store, filter, boxcar_str_of(note), &count, &f->err));
    return count;
}

static boxcar_dead_filter only(const boxcar_message_ref *ref) {
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    filter.refs = ref;
    filter.ref_count = 1;
    return filter;
}

/* BX-004, BX-025 */
static void replayed_dead_letter_is_claimable_with_all_its_attempts(void **state) {
    struct fixture *f = *state;
    boxcar_new_message two_tries = new_message("t", "again");
    two_tries.max_attempts = 2;
    boxcar_work_id id = enqueue_message(f, &two_tries).work_id;
    for (int i = 0; i < 2; i++)
        assert_true(abandon(f, f->owner, take(f, f->owner, id), 0));
    assert_dead(f, id, BOXCAR_REASON_EXHAUSTED);

    boxcar_message_ref ref = {.work_id = id};
    boxcar_dead_filter filter = only(&ref);
    assert_int_equal(replay(f, &filter, "fixed the mailer"), 1);
    boxcar_message_list *list = find(f, id);
    assert_int_equal(look(list)->status, BOXCAR_READY);
    assert_int_equal(look(list)->retry_count, 0);
    assert_int_equal(look(list)->reason, BOXCAR_REASON_NONE);
    assert_true(look(list)->died_at == BOXCAR_TIME_NONE);
    boxcar_list_free(list);
    struct taken taken = take(f, f->owner, id);
    assert_int_equal(taken.retry_count, 0);
    assert_true(abandon(f, f->owner, taken, 0));
    assert_true(ack(f, f->owner, take(f, f->owner, id)));
    assert_int_equal(stats_of(f).failed, 0);
}

/* BX-004, BX-025 */
static void replay_is_recorded_with_its_note(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued enqueued = enqueue_dead(f, "t", "no");
    boxcar_message_ref ref = {.message_id = enqueued.message_id};
    boxcar_dead_filter filter = only(&ref);
    assert_int_equal(replay(f, &filter, "asked the customer"), 1);
    boxcar_attempt_list *list = NULL;
    ASSERT_OK(f, boxcar_attempt_read(f->store, enqueued.work_id, &list, &f->err));
    assert_int_equal(list->count, 2);
    assert_text(list->items[0]->outcome, "failed");
    assert_text(list->items[0]->error, "no");
    assert_text(list->items[1]->outcome, "replayed");
    assert_text(list->items[1]->error, "asked the customer");
    assert_int_equal(list->items[1]->retry_count, 0);
    boxcar_list_free(list);
}

static void assert_waits_until(struct fixture *f, boxcar_work_id id, boxcar_time due_at) {
    boxcar_message_list *list = find(f, id);
    assert_int_equal(look(list)->status, BOXCAR_READY);
    assert_int_equal(look(list)->available_at, due_at);
    boxcar_list_free(list);
}

/* BX-005: in a stream as well, where it is the head. */
static void replayed_dead_letter_waits_until_it_is_due(void **state) {
    struct fixture *f = *state;
    boxcar_message_ref refs[2];
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    boxcar_new_message message = new_message("t", "later");
    message.due_at = database_now(f) + INT64_C(3600) * 1000000;
    filter.refs = refs;
    filter.ref_count = 2;
    for (int i = 0; i < 2; i++) {
        message.stream = i ? BOXCAR_STR("s") : BOXCAR_NO_STR;
        refs[i] = (boxcar_message_ref){.work_id = enqueue_message(f, &message).work_id};
        ASSERT_OK(f, boxcar_message_cancel(f->store, BOXCAR_OUTBOX, refs[i], &f->err));
    }
    assert_int_equal(replay(f, &filter, NULL), 2);
    for (int i = 0; i < 2; i++)
        assert_waits_until(f, refs[i].work_id, message.due_at);
    assert_nothing_claimable(f);
    assert_int_equal(stats_of(f).waiting, 2);
}

/* BX-004 */
static void replay_touches_nothing_that_is_not_dead(void **state) {
    struct fixture *f = *state;
    boxcar_message_ref refs[3] = {{.work_id = enqueue_done(f, "t").work_id},
                                  {.work_id = enqueue(f, "t", "p").work_id},
                                  {.work_id = {77777}}};
    for (int i = 0; i < 3; i++) {
        boxcar_dead_filter filter = only(&refs[i]);
        assert_int_equal(replay(f, &filter, NULL), 0);
    }
    assert_status(f, refs[0].work_id, BOXCAR_DONE);
    take(f, f->owner, refs[1].work_id);
    assert_nothing_claimable(f);
}

/* BX-025 */
static void replay_by_filter_takes_what_matches_and_leaves_the_rest(void **state) {
    struct fixture *f = *state;
    boxcar_work_id kept = enqueue_dead(f, "a", "x").work_id;
    enqueue_dead(f, "b.1", "x");
    enqueue_dead(f, "b.2", "x");
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    filter.topic = BOXCAR_STR("b.*");
    assert_int_equal(replay(f, &filter, NULL), 2);
    assert_dead(f, kept, BOXCAR_REASON_REJECTED);
    assert_int_equal(stats_of(f).ready, 2);
}

/* BX-025, BX-011 */
static void forgotten_condition_replays_and_purges_nothing(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue_dead(f, "t", "x").work_id;
    boxcar_dead_filter nothing = BOXCAR_DEAD_FILTER_INIT;
    int64_t count = -1;
    ASSERT_INVALID(f, "filter", boxcar_dead_replay(f->store, &nothing, BOXCAR_NO_STR, &count, &f->err));
    ASSERT_INVALID(f, "filter", boxcar_dead_purge(f->store, &nothing, &count, &f->err));
    assert_int_equal(count, -1);
    assert_dead(f, id, BOXCAR_REASON_REJECTED);
}

static void make_many_dead(struct fixture *f, size_t count) {
    struct taken taken[1500];
    boxcar_settlement settlements[1500];
    enqueue_many(f, "t", count, NULL);
    assert_int_equal(take_all(f, f->owner, 60000, taken, count), count);
    for (size_t i = 0; i < count; i++)
        settlements[i] = settlement_of(taken[i]);
    size_t affected = 0;
    ASSERT_OK(f, boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), BOXCAR_FAIL, settlements, count,
                               NULL, &affected, &f->err));
    assert_int_equal(affected, count);
}

/* BX-025 */
static void all_dead_letters_are_replayed_however_many(void **state) {
    struct fixture *f = *state;
    make_many_dead(f, 1500);
    boxcar_dead_filter all = BOXCAR_DEAD_FILTER_INIT;
    all.all = true;
    assert_int_equal(replay(f, &all, NULL), 1500);
    assert_int_equal(stats_of(f).failed, 0);
    struct taken taken[1600];
    assert_int_equal(take_all(f, f->owner, 30000, taken, 1600), 1500);
}

/* BX-025 */
static void purged_dead_letters_are_gone_for_good(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued gone = enqueue_dead(f, "t", "x");
    boxcar_work_id kept = enqueue_dead(f, "u", "x").work_id;
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    int64_t count = -1;
    filter.topic = BOXCAR_STR("t");
    ASSERT_OK(f, boxcar_dead_purge(f->store, &filter, &count, &f->err));
    assert_int_equal(count, 1);
    boxcar_message_ref ref = {.work_id = gone.work_id};
    boxcar_message_list *list = NULL;
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_message_find(f->store, BOXCAR_OUTBOX, ref, &list, &f->err));
    assert_dead(f, kept, BOXCAR_REASON_REJECTED);
    assert_int_equal(audit_lost(f), 0);
}

static const struct CMUnitTest TESTS[] = {
    TEST(failed_message_is_a_dead_letter_with_its_error),
    TEST(failed_message_never_comes_back_by_itself),
    TEST(fail_passes_over_what_is_not_the_owners),
    TEST(message_dies_when_its_attempts_are_used_up),
    TEST(ten_attempts_are_the_default_and_a_message_may_have_its_own),
    TEST(error_text_is_cut_at_4096_bytes_between_characters),
    TEST(dead_letters_are_listed_newest_first_in_pages_without_payload),
    TEST(dead_letters_are_filtered_by_topic_reason_time_and_id),
    TEST(replayed_dead_letter_is_claimable_with_all_its_attempts),
    TEST(replay_is_recorded_with_its_note),
    TEST(replayed_dead_letter_waits_until_it_is_due),
    TEST(replay_touches_nothing_that_is_not_dead),
    TEST(replay_by_filter_takes_what_matches_and_leaves_the_rest),
    TEST(forgotten_condition_replays_and_purges_nothing),
    TEST(all_dead_letters_are_replayed_however_many),
    TEST(purged_dead_letters_are_gone_for_good),
};

const struct suite DEAD_SUITE = SUITE(TESTS);
