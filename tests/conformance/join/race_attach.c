/* Attaching against everything else: no join hangs because of the order in which calls arrived. */
#include <stdlib.h>

#include "race.h"

/* ---- attach against the end, and against the beginning, of a message ---- */

static const char *attach_or_ack(struct crew_member *member) {
    struct race *race = member->context;
    for (int n = member->number / 2; n < 96; n += 3) {
        boxcar_settlement settlement = settlement_of(race->taken[n]);
        boxcar_status status =
            member->number % 2
                ? boxcar_join_attach(member->store, race->joins[0], &race->ids[n], 1, NULL, &member->err)
                : boxcar_settle(member->store, CLAIMER(BOXCAR_OUTBOX, race->owner), BOXCAR_ACK, &settlement,
                                1, NULL, NULL, &member->err);
        if (status != BOXCAR_OK)
            return "attach or ack";
    }
    return NULL;
}

/* BX-042, BX-007 */
static void attach_that_meets_the_ack_leaves_no_join_hanging(void **state) {
    struct fixture *f = *state;
    struct race *race = race_new(f);
    for (int round = 0; round < 3; round++) {
        race->joins[0] = start_join(f, 96);
        race_take(f, race, 96);
        crew_run(f, 6, attach_or_ack, race);
        maintain_joins(f);
        assert_join(f, race->joins[0], BOXCAR_JOIN_COMPLETED, 96, 0);
    }
    free(race);
}

static const char *attach_or_enqueue(struct crew_member *member) {
    struct race *race = member->context;
    for (int n = 0; n < 64; n++) {
        boxcar_new_message message = new_message(STEP, "p");
        message.message_id = race->ids[n];
        boxcar_status status =
            member->number % 2 ? boxcar_join_attach(member->store, race->joins[member->number / 2],
                                                    &race->ids[n], 1, NULL, &member->err)
                               : boxcar_enqueue(member->store, BOXCAR_OUTBOX, &message, NULL, &member->err);
        if (status != BOXCAR_OK)
            return "attach or enqueue";
    }
    return NULL;
}

/* BX-042, BX-007 */
static void attach_that_meets_the_enqueue_of_its_id_leaves_no_join_hanging(void **state) {
    struct fixture *f = *state;
    struct race *race = race_new(f);
    for (int round = 0; round < 2; round++) {
        struct taken taken[64];
        for (int n = 0; n < 64; n++)
            race->ids[n].uuid = boxcar_uuid_new();
        race->joins[0] = start_join(f, 64);
        race->joins[1] = start_join(f, 64);
        crew_run(f, 4, attach_or_enqueue, race);
        assert_int_equal(take_all(f, f->owner, 60000, taken, 64), 64);
        settle_all(f, BOXCAR_ACK, taken, 64);
        maintain_joins(f);
        for (int k = 0; k < 2; k++) {
            assert_join(f, race->joins[k], BOXCAR_JOIN_COMPLETED, 64, 0);
            for (int n = 0; n < 64; n += 9)
                assert_true(member_of(f, race->joins[k], race->ids[n]).work_id.value > 0);
        }
    }
    free(race);
}

/* ---- one busy join ---- */

enum { BUSY_STEPS = 240 };
static const boxcar_str STEPS_ONLY = {STEP, sizeof(STEP) - 1};

static const char *produce_or_consume(struct crew_member *member) {
    struct race *race = member->context;
    for (int i = 0; i < BUSY_STEPS / 3 && member->number % 2 == 0; i++) {
        boxcar_new_message message = new_message(STEP, "p");
        message.join_id = race->joins[0];
        if (boxcar_enqueue(member->store, BOXCAR_OUTBOX, &message, NULL, &member->err) != BOXCAR_OK)
            return "enqueue";
    }
    for (int tries = 0; member->number % 2 == 1 && race->done < BUSY_STEPS; tries++) {
        boxcar_claimer options = BOXCAR_CLAIMER_INIT;
        boxcar_message_list *list = NULL;
        boxcar_settlement settlements[8];
        size_t affected = 0;
        options.owner = member->owner;
        options.batch_size = 8;
        options.topics = &STEPS_ONLY;
        options.topic_count = 1;
        if (boxcar_claim(member->store, &options, &list, &member->err) != BOXCAR_OK)
            return "claim";
        size_t count = list->count;
        for (size_t i = 0; i < count; i++) {
            const boxcar_message *m = list->items[i];
            settlements[i] = settlement_of((struct taken){m->work_id, m->epoch, 0, 0});
        }
        boxcar_list_free(list);
        if (boxcar_settle(member->store, CLAIMER(BOXCAR_OUTBOX, member->owner), BOXCAR_ACK, settlements,
                          count, NULL, &affected, &member->err) != BOXCAR_OK)
            return "ack";
        atomic_fetch_add(&race->done, (int)affected);
        if (tries > 20000)
            return "messages are missing";
    }
    return NULL;
}

/* BX-007, BX-041, BX-047, JOIN-060 */
static void busy_join_is_filled_and_counted_at_once(void **state) {
    struct fixture *f = *state;
    struct race *race = race_new(f);
    race->joins[0] = start_join(f, BUSY_STEPS);
    boxcar_enqueued wait = enqueue_wait(f, race->joins[0]);
    assert_int_equal(evaluate(f, wait), WAIT_DEFERRED);
    crew_run(f, 6, produce_or_consume, race);
    assert_join(f, race->joins[0], BOXCAR_JOIN_COMPLETED, BUSY_STEPS, 0);
    assert_int_equal(evaluate(f, wait), WAIT_COMPLETED);
    assert_int_equal(maintain_joins(f).settled, 0);
    free(race);
}

/* ---- the same pairs ---- */

static const char *attach_the_same(struct crew_member *member) {
    struct race *race = member->context;
    boxcar_new_join same = new_join(9);
    boxcar_join_id started;
    same.join_id = race->joins[1];
    if (boxcar_join_start(member->store, &same, &started, &member->err) != BOXCAR_OK)
        return "start";
    for (int round = 0; round < 3; round++) {
        boxcar_message_id ids[48];
        boxcar_attached attached[48] = {BOXCAR_ATTACHED_INIT};
        for (int i = 0; i < 48; i++)
            ids[i] = race->ids[16 * round + (member->number % 2 ? i : 47 - i)];
        if (boxcar_join_attach(member->store, race->joins[0], ids, 48, attached, &member->err) != BOXCAR_OK)
            return "attach";
        for (int i = 0; i < 48; i++)
            atomic_fetch_add(&race->done, attached[i].is_new);
    }
    return NULL;
}

/* JOIN-011, JOIN-060, JOIN-062 */
static void same_pairs_attached_at_once_are_new_once(void **state) {
    struct fixture *f = *state;
    struct race *race = race_new(f);
    race->joins[0] = start_join(f, 100);
    race->joins[1] = unknown_join();
    race_take(f, race, 40); /* half of them are messages */
    for (int i = 40; i < 80; i++)
        race->ids[i].uuid = boxcar_uuid_new();
    crew_run(f, 8, attach_the_same, race);
    assert_int_equal(race->done, 80);
    assert_int_equal(count_members(f, race->joins[0], BOXCAR_MEMBER_PENDING), 80);
    assert_int_equal(join_of(f, race->joins[1]).expected_steps, 9);
    free(race);
}

static const struct CMUnitTest TESTS[] = {
    TEST(attach_that_meets_the_ack_leaves_no_join_hanging),
    TEST(attach_that_meets_the_enqueue_of_its_id_leaves_no_join_hanging),
    TEST(busy_join_is_filled_and_counted_at_once),
    TEST(same_pairs_attached_at_once_are_new_once),
};

const struct suite JOIN_RACE_ATTACH_SUITE = SUITE(TESTS);
