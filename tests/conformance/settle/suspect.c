/* Suspects: messages released by an expired lease are leased alone, so that one which kills its
 * workers harms nobody else. */
#include "conformance.h"

enum { SHORT = BOXCAR_LEASE_MS_MIN };

/* `count` messages whose lease has expired once; with `reaped`, already released. */
static void make_suspects(struct fixture *f, size_t count, bool reaped) {
    struct taken taken[64];
    enqueue_many(f, "suspect", count, NULL);
    assert_int_equal(take_all(f, f->owner, SHORT, taken, count), count);
    wait_out(f, SHORT);
    if (reaped)
        assert_int_equal(reap(f), (int64_t)count);
}

/* BX-003 */
static void suspects_are_claimed_alone(void **state) {
    struct fixture *f = *state;
    make_suspects(f, 4, true);
    for (int i = 0; i < 4; i++) {
        boxcar_message_list *list = claim(f, f->owner, 100);
        assert_int_equal(look(list)->crash_count, 1);
        boxcar_list_free(list);
    }
    assert_nothing_claimable(f);
}

/* BX-003 */
static void suspects_found_by_claim_are_claimed_alone_too(void **state) {
    struct fixture *f = *state;
    make_suspects(f, 4, false);
    struct taken taken[8];
    for (int i = 0; i < 4; i++) {
        boxcar_message_list *list = claim_wait(f, f->owner, 100, 30000);
        taken[i].crash_count = look(list)->crash_count;
        assert_int_equal(taken[i].crash_count, 1);
        boxcar_list_free(list);
    }
    assert_nothing_claimable(f);
}

/* BX-003, BX-020 */
static void suspects_and_other_work_take_turns(void **state) {
    struct fixture *f = *state;
    make_suspects(f, 6, true);
    enqueue_many(f, "fresh", 60, NULL);
    int suspects = 0, others = 0, last_was_suspect = -1;
    for (int i = 0; i < 8; i++) {
        boxcar_message_list *list = claim(f, f->owner, 10);
        size_t count = list->count;
        bool suspect = list->items[0]->crash_count > 0;
        assert_true(suspect ? count == 1 : count == 10);
        for (size_t k = 0; k < count; k++)
            assert_true((list->items[k]->crash_count > 0) == suspect);
        assert_int_not_equal(suspect, last_was_suspect);
        last_was_suspect = suspect;
        *(suspect ? &suspects : &others) += 1;
        boxcar_list_free(list);
    }
    assert_int_equal(suspects, 4);
    assert_int_equal(others, 4);
}

/* BX-003 */
static void suspect_stays_one_after_abandon(void **state) {
    struct fixture *f = *state;
    make_suspects(f, 1, true);
    assert_true(abandon(f, f->owner, take(f, f->owner, (boxcar_work_id){1}), 0));
    enqueue_many(f, "fresh", 5, NULL);
    for (int i = 0; i < 2; i++) {
        boxcar_message_list *list = claim(f, f->owner, 10);
        const boxcar_message *first = list->items[0];
        assert_int_equal(list->count, first->crash_count > 0 ? 1 : 5);
        assert_int_equal(first->retry_count, first->crash_count > 0 ? 2 : 0);
        boxcar_list_free(list);
    }
}

/* BX-003 */
static void crash_count_rises_with_every_crash(void **state) {
    struct fixture *f = *state;
    make_suspects(f, 1, true);
    for (int crashes = 1; crashes <= 3; crashes++) {
        struct taken taken = take_for(f, f->owner, (boxcar_work_id){1}, SHORT);
        assert_int_equal(taken.crash_count, crashes);
        assert_int_equal(taken.retry_count, crashes);
        reap_wait(f, 1);
    }
}

/* A worker that dies whenever it holds message 3: its lease just expires. */
static void work_until_quiet(struct fixture *f) {
    for (;;) {
        struct taken taken[20];
        boxcar_message_list *list = claim_for(f, f->owner, 20, SHORT);
        size_t count = list->count;
        bool dies = false;
        for (size_t i = 0; i < count; i++) {
            const boxcar_message *m = list->items[i];
            taken[i] = (struct taken){m->work_id, m->epoch, m->retry_count, m->crash_count};
            dies = dies || m->work_id.value == 3;
        }
        boxcar_list_free(list);
        if (count == 0)
            return;
        if (dies)
            reap_wait(f, (int64_t)count);
        for (size_t i = 0; i < count && !dies; i++)
            assert_true(ack(f, f->owner, taken[i]));
    }
}

/* BX-003 */
static void message_that_kills_its_worker_is_buried_and_costs_its_neighbours_one_attempt(void **state) {
    struct fixture *f = *state;
    set_setting(f, "max_attempts", "4");
    enqueue_many(f, "t", 20, NULL);
    work_until_quiet(f);
    assert_dead(f, (boxcar_work_id){3}, BOXCAR_REASON_EXHAUSTED);
    assert_int_equal(retry_count_of(f, (boxcar_work_id){3}), 4);
    for (int64_t id = 1; id <= 20; id++) {
        if (id == 3)
            continue;
        assert_status(f, (boxcar_work_id){id}, BOXCAR_DONE);
        boxcar_attempt_list *list = NULL;
        ASSERT_OK(f, boxcar_attempt_read(f->store, (boxcar_work_id){id}, &list, &f->err));
        assert_int_equal(list->count, 1);
        boxcar_list_free(list);
    }
}

/* BX-003, BX-025 */
static void replay_clears_suspicion(void **state) {
    struct fixture *f = *state;
    make_suspects(f, 1, true);
    assert_true(bury(f, f->owner, take(f, f->owner, (boxcar_work_id){1}), "enough"));
    boxcar_dead_filter all = BOXCAR_DEAD_FILTER_INIT;
    all.all = true;
    ASSERT_OK(f, boxcar_dead_replay(f->store, &all, BOXCAR_NO_STR, NULL, &f->err));
    struct taken taken = take(f, f->owner, (boxcar_work_id){1});
    assert_int_equal(taken.crash_count, 0);
    assert_int_equal(taken.retry_count, 0);
}

static const struct CMUnitTest TESTS[] = {
    TEST(suspects_are_claimed_alone),
    TEST(suspects_found_by_claim_are_claimed_alone_too),
    TEST(suspects_and_other_work_take_turns),
    TEST(suspect_stays_one_after_abandon),
    TEST(crash_count_rises_with_every_crash),
    TEST(message_that_kills_its_worker_is_buried_and_costs_its_neighbours_one_attempt),
    TEST(replay_clears_suspicion),
};

const struct suite SUSPECT_SUITE = SUITE(TESTS);
