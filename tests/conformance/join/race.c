/* Many hands on one join: no error for callers, and every step is counted once. */
#include <stdlib.h>

#include "race.h"

/* ---- complete and fail on one member ---- */

/* One way in four for each hand: by hand or by its message, well or badly. */
static const char *end_every_member(struct crew_member *member) {
    struct race *race = member->context;
    for (int n = 0; n < 60; n++) {
        int i = member->number % 2 ? n : 59 - n;
        boxcar_settlement settlement = settlement_of(race->taken[i]);
        size_t affected = 0;
        bool counted = false;
        boxcar_status status;
        switch (member->number % 4) {
        case 0:
            status = boxcar_join_report(member->store, race->joins[0], race->ids[i], BOXCAR_MEMBER_COMPLETED,
                                        &counted, &member->err);
            break;
        case 1:
            status = boxcar_join_report(member->store, race->joins[0], race->ids[i], BOXCAR_MEMBER_FAILED,
                                        &counted, &member->err);
            break;
        case 2:
            status = boxcar_settle(member->store, CLAIMER(BOXCAR_OUTBOX, race->owner), BOXCAR_ACK,
                                   &settlement, 1, NULL, &affected, &member->err);
            break;
        default:
            status = boxcar_settle(member->store, CLAIMER(BOXCAR_OUTBOX, race->owner), BOXCAR_FAIL,
                                   &settlement, 1, NULL, &affected, &member->err);
        }
        if (status != BOXCAR_OK)
            return "report or settle";
        atomic_fetch_add(&race->completed[i], counted && member->number % 4 == 0);
        atomic_fetch_add(&race->failed[i], counted && member->number % 4 == 1);
    }
    return NULL;
}

/* BX-007, JOIN-022, JOIN-060, JOIN-061 */
static void member_that_completes_and_fails_at_once_counts_once(void **state) {
    struct fixture *f = *state;
    struct race *race = race_new(f);
    race->joins[0] = start_join(f, 61); /* one more, so that it stays open */
    race_take(f, race, 60);
    ASSERT_OK(f, boxcar_join_attach(f->store, race->joins[0], race->ids, 60, NULL, &f->err));
    crew_run(f, 8, end_every_member, race);
    boxcar_join join = join_of(f, race->joins[0]);
    assert_int_equal(join.completed_steps + join.failed_steps, 60);
    assert_consistent(f, race->joins[0]);
    for (int i = 0; i < 60; i++) {
        assert_in_range(race->completed[i] + race->failed[i], 0, 1);
        if (race->completed[i] + race->failed[i] == 1)
            assert_member(f, race->joins[0], race->ids[i],
                          race->completed[i] ? BOXCAR_MEMBER_COMPLETED : BOXCAR_MEMBER_FAILED);
    }
    maintain_joins(f);
    assert_int_equal(join_of(f, race->joins[0]).completed_steps, join.completed_steps);
    free(race);
}

/* ---- overlapping joins ---- */

static bool is_member(int message, int join) {
    return join == message % RACE_JOINS || message % (join + 2) == 0;
}

/* Every hand settles its own twelve messages, four at a time, odd hands backwards; every third hand badly. */
static const char *settle_overlapping(struct crew_member *member) {
    struct race *race = member->context;
    enum { OWN = RACE_MESSAGES / RACE_HANDS, CALL = 4 };
    for (int start = 0; start < OWN; start += CALL) {
        boxcar_settlement settlements[CALL];
        size_t affected = 0;
        for (int i = 0; i < CALL; i++) {
            int own = member->number % 2 ? OWN - 1 - start - i : start + i;
            settlements[i] = settlement_of(race->taken[own * RACE_HANDS + member->number]);
        }
        boxcar_status status = boxcar_settle(member->store, CLAIMER(BOXCAR_OUTBOX, race->owner),
                                             member->number % 3 ? BOXCAR_ACK : BOXCAR_FAIL, settlements, CALL,
                                             NULL, &affected, &member->err);
        if (status != BOXCAR_OK)
            return "settle";
        atomic_fetch_add(&race->done, (int)affected);
    }
    return NULL;
}

/* JOIN-060, JOIN-061, JOIN-062, BX-041 */
static void sixteen_connections_settle_members_of_overlapping_joins(void **state) {
    struct fixture *f = *state;
    struct race *race = race_new(f);
    race_take(f, race, RACE_MESSAGES);
    int members[RACE_JOINS] = {0}, failing[RACE_JOINS] = {0};
    for (int k = 0; k < RACE_JOINS; k++) {
        boxcar_message_id ids[RACE_MESSAGES];
        race->joins[k] = start_join(f, RACE_MESSAGES);
        for (int i = 0; i < RACE_MESSAGES; i++)
            if (is_member(i, k)) {
                ids[members[k]++] = race->ids[i];
                failing[k] += (i % RACE_HANDS) % 3 == 0;
            }
        ASSERT_OK(f, boxcar_join_attach(f->store, race->joins[k], ids, (size_t)members[k], NULL, &f->err));
    }
    crew_run(f, RACE_HANDS, settle_overlapping, race);
    assert_int_equal(race->done, RACE_MESSAGES);
    for (int k = 0; k < RACE_JOINS; k++)
        assert_join(f, race->joins[k], BOXCAR_JOIN_PENDING, members[k] - failing[k], failing[k]);
    assert_int_equal(maintain_joins(f).settled, 0);
    free(race);
}

/* ---- more members than steps ---- */

enum { WANTED = 50 };

/* The last one looks on while the others count; what it sees is right at every commit. */
static const char *ack_or_look(struct crew_member *member) {
    struct race *race = member->context;
    int64_t last = 0;
    for (int i = member->number; i < RACE_MESSAGES && member->number < 7; i += 7) {
        boxcar_settlement settlement = settlement_of(race->taken[i]);
        boxcar_settle_kind how = i % 5 ? BOXCAR_ACK : BOXCAR_FAIL;
        if (boxcar_settle(member->store, CLAIMER(BOXCAR_OUTBOX, race->owner), how, &settlement, 1, NULL, NULL,
                          &member->err) != BOXCAR_OK)
            return "settle";
        atomic_fetch_add(&race->done, 1);
    }
    while (member->number == 7 && race->done < RACE_MESSAGES) {
        boxcar_join_list *list = NULL;
        if (boxcar_join_find(member->store, race->joins[0], &list, &member->err) != BOXCAR_OK)
            return "find";
        boxcar_join join = *list->items[0];
        boxcar_list_free(list);
        int64_t counted = join.completed_steps + join.failed_steps;
        if (counted < last || counted > WANTED)
            return "counters went back, or too far";
        if ((counted == WANTED) != (join.status != BOXCAR_JOIN_PENDING))
            return "counters and status disagree";
        last = counted;
    }
    return NULL;
}

/* BX-043, JOIN-023, BX-007 */
static void no_more_than_the_expected_steps_are_ever_counted(void **state) {
    struct fixture *f = *state;
    struct race *race = race_new(f);
    race->joins[0] = start_join(f, WANTED);
    race_take(f, race, RACE_MESSAGES);
    ASSERT_OK(f, boxcar_join_attach(f->store, race->joins[0], race->ids, RACE_MESSAGES, NULL, &f->err));
    crew_run(f, 8, ack_or_look, race);
    boxcar_join join = join_of(f, race->joins[0]);
    assert_int_equal(join.completed_steps + join.failed_steps, WANTED);
    assert_consistent(f, race->joins[0]);
    assert_int_equal(maintain_joins(f).settled, 0);
    assert_int_equal(count_members(f, race->joins[0], BOXCAR_MEMBER_PENDING), RACE_MESSAGES - WANTED);
    free(race);
}

static const struct CMUnitTest TESTS[] = {
    TEST(member_that_completes_and_fails_at_once_counts_once),
    TEST(sixteen_connections_settle_members_of_overlapping_joins),
    TEST(no_more_than_the_expected_steps_are_ever_counted),
};

const struct suite JOIN_RACE_SUITE = SUITE(TESTS);
