/* What became of each member, when neighbours end together and some of them had ended before. */
#include <string.h>

#include "joins.h"

enum { STEPS = 10 };

/* The outcomes of these members, a letter each: c(ompleted), f(ailed), p(ending), or - for no member. */
static void assert_outcomes(struct fixture *f, boxcar_join_id join_id, const struct taken *taken,
                            const char *wanted) {
    boxcar_join_member_list *list = NULL;
    char outcomes[STEPS + 1] = "";
    ASSERT_OK(f, boxcar_join_member_page(f->store, join_id, (boxcar_message_id){0}, BOXCAR_LIST_LIMIT_MAX,
                                         &list, &f->err));
    for (size_t i = 0; i < strlen(wanted); i++) {
        outcomes[i] = '-';
        for (size_t k = 0; k < list->count; k++) {
            const boxcar_join_member *member = list->items[k];
            if (member->work_id.value == taken[i].work_id.value)
                outcomes[i] = "pcf"[member->status];
        }
    }
    boxcar_list_free(list);
    assert_string_equal(outcomes, wanted);
    assert_consistent(f, join_id);
}

static boxcar_message_id message_of(struct fixture *f, struct taken taken) {
    boxcar_message_list *list = find(f, taken.work_id);
    boxcar_message_id id = look(list)->message_id;
    boxcar_list_free(list);
    return id;
}

static bool report_step(struct fixture *f, boxcar_join_id id, struct taken taken,
                        boxcar_member_status outcome) {
    return report(f, id, message_of(f, taken), outcome);
}

/* JOIN-022, BX-007: at either end of those that end together, side by side, and in the middle. */
static void member_reported_by_hand_keeps_its_outcome_among_neighbours_that_end(void **state) {
    static const size_t REPORTED[] = {9, 0, 4, 5};
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 2 * STEPS);
    struct taken taken[STEPS];
    take_steps(f, id, taken, STEPS);
    for (size_t i = 0; i < 4; i++)
        assert_true(report_step(f, id, taken[REPORTED[i]], BOXCAR_MEMBER_FAILED));
    assert_outcomes(f, id, taken, "fpppffpppf");
    settle_all(f, BOXCAR_ACK, taken, STEPS);
    assert_join(f, id, BOXCAR_JOIN_PENDING, 6, 4);
    assert_outcomes(f, id, taken, "fcccffcccf");
    for (size_t i = 0; i < STEPS; i++)
        assert_false(report_step(f, id, taken[i], BOXCAR_MEMBER_COMPLETED));
    assert_join(f, id, BOXCAR_JOIN_PENDING, 6, 4);
}

/* BX-043, JOIN-023: what has its outcome takes no room twice, and the oldest of the others come first. */
static void room_is_left_for_the_oldest_that_have_no_outcome(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 6);
    struct taken taken[STEPS];
    take_steps(f, id, taken, STEPS);
    assert_true(report_step(f, id, taken[1], BOXCAR_MEMBER_COMPLETED));
    assert_true(report_step(f, id, taken[8], BOXCAR_MEMBER_COMPLETED));
    settle_all(f, BOXCAR_ACK, taken, STEPS);
    assert_join(f, id, BOXCAR_JOIN_COMPLETED, 6, 0);
    assert_outcomes(f, id, taken, "cccccpppcp");
}

/* BX-041, JOIN-080: members of two joins and of none take turns. */
static void members_that_are_no_neighbours_count_in_their_own_join(void **state) {
    struct fixture *f = *state;
    boxcar_join_id joins[3] = {start_join(f, STEPS), start_join(f, STEPS), {{{0}}}};
    struct taken taken[STEPS];
    for (size_t i = 0; i < STEPS; i++)
        taken[i] = take_step(f, joins[i % 3]);
    assert_true(report_step(f, joins[0], taken[3], BOXCAR_MEMBER_FAILED));
    assert_true(report_step(f, joins[1], taken[7], BOXCAR_MEMBER_FAILED));
    settle_all(f, BOXCAR_ACK, taken, STEPS);
    assert_join(f, joins[0], BOXCAR_JOIN_PENDING, 3, 1);
    assert_join(f, joins[1], BOXCAR_JOIN_PENDING, 2, 1);
    assert_outcomes(f, joins[0], taken, "c--f--c--c");
    assert_outcomes(f, joins[1], taken, "-c--c--f--");
}

/* BX-042: a message that lies among counted ones joins them later. */
static void member_attached_between_counted_ones_is_pending_until_it_ends(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, STEPS);
    struct taken taken[3];
    taken[0] = take_step(f, id);
    taken[1] = take_step(f, (boxcar_join_id){0});
    taken[2] = take_step(f, id);
    assert_true(ack(f, f->owner, taken[0]));
    assert_true(ack(f, f->owner, taken[2]));
    attach(f, id, message_of(f, taken[1]));
    assert_outcomes(f, id, taken, "cpc");
    assert_true(bury(f, f->owner, taken[1], "no"));
    assert_outcomes(f, id, taken, "cfc");
}

/* BX-007, BX-025 */
static void dead_neighbours_that_are_replayed_stay_failed(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 2 * STEPS);
    struct taken taken[STEPS], replayed[STEPS];
    boxcar_dead_filter all = BOXCAR_DEAD_FILTER_INIT;
    all.all = true;
    take_steps(f, id, taken, STEPS);
    settle_all(f, BOXCAR_FAIL, &taken[2], 3);
    settle_all(f, BOXCAR_FAIL, &taken[6], 1);
    ASSERT_OK(f, boxcar_dead_replay(f->store, &all, BOXCAR_NO_STR, NULL, &f->err));
    assert_int_equal(take_all(f, f->owner, 30000, replayed, STEPS), 4);
    for (size_t i = 0; i < 4; i++)
        taken[replayed[i].work_id.value - taken[0].work_id.value] = replayed[i];
    settle_all(f, BOXCAR_ACK, taken, STEPS);
    assert_join(f, id, BOXCAR_JOIN_PENDING, 6, 4);
    assert_outcomes(f, id, taken, "ccfffcfccc");
}

/* BX-042, JOIN-013: neighbours that ended in different ways before they were attached. */
static void neighbours_that_had_ended_differently_count_as_they_ended(void **state) {
    static const char OUTCOMES[] = "ccffcfcccf";
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, STEPS);
    struct taken taken[STEPS];
    take_steps(f, (boxcar_join_id){0}, taken, STEPS);
    for (size_t i = 0; i < STEPS; i++) {
        assert_true(OUTCOMES[i] == 'f' ? bury(f, f->owner, taken[i], "no") : ack(f, f->owner, taken[i]));
        attach(f, id, message_of(f, taken[i]));
    }
    assert_outcomes(f, id, taken, "pppppppppp");
    assert_int_equal(maintain_joins(f).settled, STEPS);
    assert_outcomes(f, id, taken, OUTCOMES);
    assert_join(f, id, BOXCAR_JOIN_FAILED, 6, 4);
}

/* BX-042, JOIN-022: first the outcome, then the message, which ends with its neighbours. */
static void member_reported_before_its_message_came_counts_once(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, STEPS);
    boxcar_new_message message = new_message(STEP, "p");
    struct taken taken[3];
    message.message_id.uuid = boxcar_uuid_new();
    attach(f, id, message.message_id);
    assert_true(report(f, id, message.message_id, BOXCAR_MEMBER_FAILED));
    taken[0] = take_step(f, id);
    taken[1] = take(f, f->owner, enqueue_message(f, &message).work_id);
    taken[2] = take_step(f, id);
    assert_outcomes(f, id, taken, "pfp");
    settle_all(f, BOXCAR_ACK, taken, 3);
    assert_outcomes(f, id, taken, "cfc");
    assert_join(f, id, BOXCAR_JOIN_PENDING, 2, 1);
}

static const struct CMUnitTest TESTS[] = {
    TEST(member_reported_by_hand_keeps_its_outcome_among_neighbours_that_end),
    TEST(room_is_left_for_the_oldest_that_have_no_outcome),
    TEST(members_that_are_no_neighbours_count_in_their_own_join),
    TEST(member_attached_between_counted_ones_is_pending_until_it_ends),
    TEST(dead_neighbours_that_are_replayed_stay_failed),
    TEST(neighbours_that_had_ended_differently_count_as_they_ended),
    TEST(member_reported_before_its_message_came_counts_once),
};

const struct suite JOIN_OUTCOME_SUITE = SUITE(TESTS);
