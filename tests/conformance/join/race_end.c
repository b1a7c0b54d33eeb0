/* The end of a join against everything else: it ends once, and its waits hear of it. */
#include <stdlib.h>

#include "race.h"
#include "store/store.h"

/* ---- the end of a join against its last step ---- */

static const char *ack_cancel_or_maintain(struct crew_member *member) {
    struct race *race = member->context;
    for (int i = 0; i < RACE_JOINS; i++) {
        boxcar_settlement settlement = settlement_of(race->taken[i]);
        boxcar_status status = BOXCAR_OK;
        if (member->number == 0)
            status = boxcar_settle(member->store, CLAIMER(BOXCAR_OUTBOX, race->owner), BOXCAR_ACK,
                                   &settlement, 1, NULL, NULL, &member->err);
        else if (member->number == 1)
            status = boxcar_join_cancel(member->store, race->joins[i], &member->err);
        else
            status = boxcar_maintenance_run(member->store, NULL, &member->err);
        if (member->number == 1 && status == BOXCAR_OK)
            atomic_fetch_add(&race->cancelled[i], 1);
        if (status != BOXCAR_OK && !(member->number == 1 && status == BOXCAR_E_CONFLICT))
            return "ack, cancel or maintain";
        if (member->number == 0)
            pause_ms(3); /* so that the others, which do more, meet it at different joins */
    }
    return NULL;
}

/* BX-046, BX-007, JOIN-042 */
static void join_ends_once_when_deadline_cancel_and_last_ack_meet(void **state) {
    struct fixture *f = *state;
    struct race *race = race_new(f);
    for (int round = 0; round < 4; round++) {
        race_take(f, race, RACE_JOINS);
        for (int i = 0; i < RACE_JOINS; i++) {
            boxcar_new_join new = new_join(1);
            new.deadline_ms = round % 2 ? 3600000 : 0;
            race->joins[i] = start_this(f, &new);
            race->cancelled[i] = 0;
            attach(f, race->joins[i], race->ids[i]);
        }
        if (round % 2)
            make_due_soon(f);
        crew_run(f, 3, ack_cancel_or_maintain, race);
        for (int i = 0; i < RACE_JOINS; i++) {
            boxcar_join join = join_of(f, race->joins[i]);
            assert_int_not_equal(join.status, BOXCAR_JOIN_PENDING);
            assert_int_equal(join.status == BOXCAR_JOIN_CANCELLED, race->cancelled[i]);
            assert_int_equal(join.completed_steps, join.status == BOXCAR_JOIN_COMPLETED);
            assert_consistent(f, race->joins[i]);
        }
    }
    free(race);
}

/* ---- the end of a join against the evaluation of its wait ---- */

/* As resolve(), for any thread. */
static boxcar_status resolve_quietly(struct crew_member *member, struct race *race, int i,
                                     enum wait_outcome *ret_outcome) {
    struct wait wait = {.join_id = race->joins[i],
                        .on_complete_topic = BOXCAR_STR("completed"),
                        .on_complete_payload = BOXCAR_STR("yes"),
                        .on_fail_topic = BOXCAR_STR("failed"),
                        .on_fail_payload = BOXCAR_STR("no"),
                        .continuation_id = boxcar_join_continuation_id(race->waits[i].message_id)};
    boxcar_settlement settlement = settlement_of(race->taken[RACE_JOINS + i]);
    struct request batch = {.base.owner = race->owner, .own[BOXCAR_OUTBOX].waits = &wait};
    struct result result = {.arena = ARENA_INIT};
    batch.parts[BOXCAR_OUTBOX].settle[BOXCAR_RESOLVE] = (boxcar_settlement_list){&settlement, 1};
    boxcar_status status = member->store->ops->process(member->store, &batch, &result, &member->err);
    if (status != BOXCAR_OK)
        return status;
    *ret_outcome = result.parts[BOXCAR_OUTBOX].waits[0];
    result_release(&result);
    return BOXCAR_OK;
}

static const char *end_or_evaluate(struct crew_member *member) {
    struct race *race = member->context;
    for (int i = 0; i < RACE_JOINS; i++) {
        boxcar_settlement settlement = settlement_of(race->taken[i]);
        enum wait_outcome outcome = WAIT_LOST;
        boxcar_status status = BOXCAR_OK;
        if (member->number == 0)
            status = resolve_quietly(member, race, i, &outcome);
        else if (i % 3 == 2)
            status = boxcar_join_cancel(member->store, race->joins[i], &member->err);
        else
            status =
                boxcar_settle(member->store, CLAIMER(BOXCAR_OUTBOX, race->owner),
                              i % 3 ? BOXCAR_FAIL : BOXCAR_ACK, &settlement, 1, NULL, NULL, &member->err);
        if (status != BOXCAR_OK)
            return "end or evaluate";
        if (member->number == 0)
            atomic_store(&race->outcomes[i], (int)outcome);
    }
    return NULL;
}

/* BX-044, BX-007: either the evaluation saw the end, or the end saw that the wait was put off. */
static void wait_that_is_put_off_while_its_join_ends_is_due_at_once(void **state) {
    struct fixture *f = *state;
    struct race *race = race_new(f);
    for (int round = 0; round < 8; round++) {
        race_take(f, race, RACE_JOINS);
        for (int i = 0; i < RACE_JOINS; i++) {
            race->joins[i] = start_join(f, 1);
            attach(f, race->joins[i], race->ids[i]);
            race->waits[i] = enqueue_wait(f, race->joins[i]);
            race->taken[RACE_JOINS + i] = take_topic(f, f->owner, WAIT, race->waits[i].work_id);
        }
        crew_run(f, 2, end_or_evaluate, race);
        for (int i = 0; i < RACE_JOINS; i++) {
            if (race->outcomes[i] == WAIT_DEFERRED)
                assert_int_equal(evaluate(f, race->waits[i]), i % 3 ? WAIT_FAILED : WAIT_COMPLETED);
            else
                assert_int_equal(race->outcomes[i], i % 3 ? WAIT_FAILED : WAIT_COMPLETED);
            assert_continuation(f, race->waits[i], i % 3 ? "failed" : "completed", i % 3 ? "no" : "yes");
        }
        boxcar_list_free(claim_topic(f, f->other, 100, STEP)); /* those of cancelled joins */
    }
    free(race);
}

/* ---- the same, one inside the other ---- */

/* The one whose number is `first` keeps its transaction open while the other comes along. */
struct overlap {
    struct race *race;
    int first;
    _Atomic bool is_open; /* the first has done its part */
};

static boxcar_status end_in(struct crew_member *member, struct race *race) {
    boxcar_settlement settlement = settlement_of(race->taken[0]);
    struct request batch = {.base.owner = race->owner};
    struct result result = {.arena = ARENA_INIT};
    batch.parts[BOXCAR_OUTBOX].settle[BOXCAR_ACK] = (boxcar_settlement_list){&settlement, 1};
    boxcar_status status = member->store->ops->process(member->store, &batch, &result, &member->err);
    if (status == BOXCAR_OK)
        result_release(&result);
    return status;
}

static const char *overlap_end_and_evaluation(struct crew_member *member) {
    struct overlap *overlap = member->context;
    struct race *race = overlap->race;
    const struct store_ops *ops = member->store->ops;
    bool first = member->number == overlap->first;
    enum wait_outcome outcome = WAIT_LOST;
    for (int i = 0; !first && !atomic_load(&overlap->is_open); i++) {
        if (i > 20000)
            return "the first never got that far";
        pause_ms(1);
    }
    if (first && ops->transaction(member->store, TRANSACTION_BEGIN, &member->err) != BOXCAR_OK)
        return "begin";
    boxcar_status status =
        member->number == 0 ? end_in(member, race) : resolve_quietly(member, race, 0, &outcome);
    if (status != BOXCAR_OK)
        return "end or evaluate";
    atomic_store(&overlap->is_open, true);
    if (first)
        pause_ms(120); /* for the other to come along: no store shows where it is */
    if (first && ops->transaction(member->store, TRANSACTION_COMMIT, &member->err) != BOXCAR_OK)
        return "commit";
    if (member->number == 1)
        atomic_store(&race->outcomes[0], (int)outcome);
    return NULL;
}

/* BX-044, BX-045 */
static void end_and_evaluation_that_overlap_do_not_miss_each_other(void **state) {
    struct fixture *f = *state;
    struct race *race = race_new(f);
    for (int first = 0; first < 2; first++) {
        struct overlap overlap = {.race = race, .first = first};
        race_take(f, race, 1);
        race->joins[0] = start_join(f, 1);
        attach(f, race->joins[0], race->ids[0]);
        race->waits[0] = enqueue_wait(f, race->joins[0]);
        race->taken[RACE_JOINS] = take_topic(f, f->owner, WAIT, race->waits[0].work_id);
        crew_run(f, 2, overlap_end_and_evaluation, &overlap);
        assert_join(f, race->joins[0], BOXCAR_JOIN_COMPLETED, 1, 0);
        if (race->outcomes[0] == WAIT_DEFERRED)
            assert_int_equal(evaluate(f, race->waits[0]), WAIT_COMPLETED);
        else
            assert_int_equal(race->outcomes[0], WAIT_COMPLETED);
    }
    free(race);
}

static const struct CMUnitTest TESTS[] = {
    TEST(join_ends_once_when_deadline_cancel_and_last_ack_meet),
    TEST(wait_that_is_put_off_while_its_join_ends_is_due_at_once),
    TEST(end_and_evaluation_that_overlap_do_not_miss_each_other),
};

const struct suite JOIN_RACE_END_SUITE = SUITE(TESTS);
