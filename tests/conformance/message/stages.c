/* Stages: what is done of a message is seen by its next attempt. BX-063 */
#include "boxes.h"

/* Whether it was the owner's to record. */
static bool record(struct fixture *f, boxcar_box box, boxcar_owner owner, struct taken taken, int stages) {
    boxcar_settlement item = settlement_of(taken);
    boxcar_request_part part = BOXCAR_REQUEST_PART_INIT;
    boxcar_request batch = BOXCAR_REQUEST_INIT;
    boxcar_result *result = NULL;
    size_t count;
    item.stages = stages;
    part.settle[BOXCAR_RECORD] = (boxcar_settlement_list){&item, 1};
    batch.owner = owner;
    if (box == BOXCAR_OUTBOX)
        batch.parts[BOXCAR_OUTBOX] = &part;
    else
        batch.parts[BOXCAR_INBOX] = &part;
    ASSERT_OK(f, boxcar_process(f->store, &batch, &result, &f->err));
    count = result->settled[box][BOXCAR_RECORD].count;
    boxcar_result_free(result);
    return count == 1;
}

static int stages_of(struct fixture *f, boxcar_box box, boxcar_work_id id) {
    boxcar_message_ref ref = {.work_id = id};
    boxcar_message_list *list = NULL;
    ASSERT_OK(f, boxcar_message_find(f->store, box, ref, &list, &f->err));
    int stages = look(list)->stages;
    boxcar_list_free(list);
    return stages;
}

static void settle_in(struct fixture *f, boxcar_box box, boxcar_settle_kind kind, struct taken taken) {
    boxcar_settlement given = settlement_of(taken);
    struct batch batch = batch_for(f->owner);
    given.delay_ms = 0;
    batch.parts[box].settle[kind] = (boxcar_settlement_list){&given, 1};
    boxcar_result *result = send_batch(f, &batch);
    assert_int_equal(result->settled[box][kind].count, 1);
    boxcar_result_free(result);
}

/* The claimed row of the next attempt. */
static int claimed_stages(struct fixture *f, boxcar_box box, struct taken *ret_taken) {
    struct batch batch = batch_for(f->owner);
    batch.parts[box].claim_size = 10;
    boxcar_result *result = send_batch(f, &batch);
    assert_int_equal(result->claimed[box]->count, 1);
    const boxcar_message *m = result->claimed[box]->items[0];
    int stages = m->stages;
    *ret_taken = (struct taken){m->work_id, m->epoch, m->retry_count, m->crash_count};
    boxcar_result_free(result);
    return stages;
}

static void retry_sees_what_is_done(void **state) {
    struct fixture *f = *state;
    for (int box = 0; box < BOXES; box++) {
        boxcar_work_id id = put_into(f, (boxcar_box)box, "t", "x", NULL);
        struct taken taken;
        assert_int_equal(claimed_stages(f, (boxcar_box)box, &taken), BOXCAR_STAGE_STORED); /* by itself */
        assert_true(record(f, (boxcar_box)box, f->owner, taken, BOXCAR_STAGE_STORED));
        assert_true(record(f, (boxcar_box)box, f->owner, taken, BOXCAR_STAGE_PUBLISHED));
        assert_int_equal(status_in(f, (boxcar_box)box, id), BOXCAR_IN_PROGRESS); /* it keeps the lease */
        assert_int_equal(stages_of(f, (boxcar_box)box, id), 5);
        settle_in(f, (boxcar_box)box, BOXCAR_ABANDON, taken);
        assert_int_equal(claimed_stages(f, (boxcar_box)box, &taken), 5);
        assert_int_equal(taken.retry_count, 1);
        assert_true(record(f, (boxcar_box)box, f->owner, taken, BOXCAR_STAGE_PERSPECTIVE_PROCESSED));
        settle_in(f, (boxcar_box)box, BOXCAR_ACK, taken); /* only this finishes it */
        assert_int_equal(status_in(f, (boxcar_box)box, id), BOXCAR_DONE);
        assert_int_equal(stages_of(f, (boxcar_box)box, id), 21);
    }
}

/* BX-002 */
static void records_are_fenced_like_acks(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = put_into(f, BOXCAR_OUTBOX, "t", "x", NULL);
    struct taken taken = take_from(f, BOXCAR_OUTBOX, f->owner, id), wrong = taken, any = taken;
    assert_false(record(f, BOXCAR_OUTBOX, f->other, taken, 1));
    assert_false(record(f, BOXCAR_INBOX, f->owner, taken, 1));
    wrong.epoch.value--;
    assert_false(record(f, BOXCAR_OUTBOX, f->owner, wrong, 1));
    wrong = taken;
    wrong.work_id.value += 100;
    assert_false(record(f, BOXCAR_OUTBOX, f->owner, wrong, 1));
    assert_int_equal(stages_of(f, BOXCAR_OUTBOX, id), 1);
    any.epoch.value = 0;
    assert_true(record(f, BOXCAR_OUTBOX, f->owner, any, 2));
    settle_in(f, BOXCAR_OUTBOX, BOXCAR_DEFER, taken);
    assert_false(record(f, BOXCAR_OUTBOX, f->owner, taken, 1)); /* the lease is gone */
    assert_int_equal(stages_of(f, BOXCAR_OUTBOX, id), 3);
}

/* In one batch the record comes before the verdict. */
static void stages_and_verdict_go_in_one_batch(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = put_into(f, BOXCAR_OUTBOX, "t", "x", NULL);
    struct taken taken = take_from(f, BOXCAR_OUTBOX, f->owner, id);
    boxcar_settlement items[2] = {settlement_of(taken), settlement_of(taken)};
    items[0].stages = 8;
    items[1].stages = 1;
    boxcar_settlement given = settlement_of(taken);
    boxcar_request_part part = BOXCAR_REQUEST_PART_INIT;
    boxcar_request batch = BOXCAR_REQUEST_INIT;
    boxcar_result *result = NULL;
    size_t count;
    given.delay_ms = 0;
    part.settle[BOXCAR_RECORD] =
        (boxcar_settlement_list){items, 2}; /* an id given twice counts once, with both */
    part.settle[BOXCAR_ABANDON] = (boxcar_settlement_list){&given, 1};
    batch.owner = f->owner;
    batch.parts[BOXCAR_OUTBOX] = &part;
    ASSERT_OK(f, boxcar_process(f->store, &batch, &result, &f->err));
    count = result->settled[BOXCAR_OUTBOX][BOXCAR_RECORD].count;
    assert_int_equal(count, 1);
    count = result->settled[BOXCAR_OUTBOX][BOXCAR_ABANDON].count;
    assert_int_equal(count, 1);
    boxcar_result_free(result);
    assert_int_equal(claimed_stages(f, BOXCAR_OUTBOX, &taken), 9);
}

/* BX-063: a settlement says how the message ended and what is done of it. */
static void stages_come_with_a_result(void **state) {
    static const boxcar_settle_kind HOW[] = {BOXCAR_ACK, BOXCAR_ABANDON, BOXCAR_DEFER, BOXCAR_FAIL};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(HOW) / sizeof(HOW[0]); i++) {
        boxcar_work_id id = put_into(f, BOXCAR_OUTBOX, "t", "x", NULL);
        boxcar_settlement given = settlement_of(take_from(f, BOXCAR_OUTBOX, f->owner, id));
        given.stages = 24;
        given.delay_ms = 3600000;
        assert_false(settle(f, HOW[i], f->other, &given)); /* fenced together */
        assert_int_equal(stages_of(f, BOXCAR_OUTBOX, id), 1);
        assert_true(settle(f, HOW[i], f->owner, &given));
        assert_int_equal(stages_of(f, BOXCAR_OUTBOX, id), HOW[i] == BOXCAR_ACK ? 29 : 25);
        given.stages = 32;
        boxcar_claimer claimer = BOXCAR_CLAIMER_INIT;
        claimer.owner = f->owner;
        ASSERT_INVALID(f, "settlements[0].stages",
                       boxcar_settle(f->store, &claimer, HOW[i], &given, 1, NULL, NULL, &f->err));
    }
}

/* BX-011 */
static void unknown_flags_are_refused(void **state) {
    struct fixture *f = *state;
    boxcar_settlement item = BOXCAR_SETTLEMENT_INIT;
    boxcar_request_part part = BOXCAR_REQUEST_PART_INIT;
    boxcar_request batch = BOXCAR_REQUEST_INIT;
    boxcar_result *result = NULL;
    static const int BAD[] = {0, 32, -1, 33};
    item.work_id.value = 1;
    part.settle[BOXCAR_RECORD] = (boxcar_settlement_list){&item, 1};
    batch.owner = f->owner;
    batch.parts[BOXCAR_OUTBOX] = &part;
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        item.stages = BAD[i];
        ASSERT_INVALID(f, "outbox.records[0].stages", boxcar_process(f->store, &batch, &result, &f->err));
    }
}

static int64_t count_rows(struct fixture *f) {
    return fixture_sql_number(f, "select count(*) from boxcar_stage", "select count(*) from stage");
}

/* Gone with the message, whether it was done or dead. */
static void stages_are_purged_with_their_messages(void **state) {
    struct fixture *f = *state;
    boxcar_maintenance done = BOXCAR_MAINTENANCE_INIT;
    for (int dead = 0; dead < 2; dead++) {
        struct taken taken =
            take_from(f, BOXCAR_OUTBOX, f->owner, put_into(f, BOXCAR_OUTBOX, "t", "x", NULL));
        assert_true(record(f, BOXCAR_OUTBOX, f->owner, taken, 4));
        settle_in(f, BOXCAR_OUTBOX, dead ? BOXCAR_FAIL : BOXCAR_ACK, taken);
    }
    assert_int_equal(count_rows(f), 2);
    set_setting(f, "retention_done", "0");
    set_setting(f, "retention_dead", "0");
    do {
        ASSERT_OK(f, boxcar_maintenance_run(f->store, &done, &f->err));
    } while (done.more);
    assert_int_equal(count_rows(f), 0);
}

/* A replay goes on where the dead one stopped. */
static void replay_sees_what_was_done(void **state) {
    struct fixture *f = *state;
    struct taken taken = take_from(f, BOXCAR_OUTBOX, f->owner, put_into(f, BOXCAR_OUTBOX, "t", "x", NULL));
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    int64_t count = 0;
    filter.all = true;
    assert_true(record(f, BOXCAR_OUTBOX, f->owner, taken, 4));
    settle_in(f, BOXCAR_OUTBOX, BOXCAR_FAIL, taken);
    ASSERT_OK(f, boxcar_dead_replay(f->store, &filter, BOXCAR_NO_STR, &count, &f->err));
    assert_int_equal(count, 1);
    assert_int_equal(claimed_stages(f, BOXCAR_OUTBOX, &taken), 5);
}

/* Nobody has to record what the store knows. */
static void store_sets_its_own_flags(void **state) {
    struct fixture *f = *state;
    for (int box = 0; box < BOXES; box++) {
        boxcar_work_id id = put_into(f, (boxcar_box)box, "t", "x", NULL);
        assert_int_equal(stages_of(f, (boxcar_box)box, id), BOXCAR_STAGE_STORED);
        settle_in(f, (boxcar_box)box, BOXCAR_ACK, take_from(f, (boxcar_box)box, f->owner, id));
        assert_int_equal(stages_of(f, (boxcar_box)box, id),
                         box == BOXCAR_OUTBOX ? 5 : 1); /* only an outbox publishes */
    }
    assert_int_equal(fixture_sql_number(f, "select count(*) from boxcar_outbox where stages = 5",
                                        "select count(*) from outbox where stages = 5"),
                     1);
    assert_int_equal(fixture_sql_number(f, "select count(*) from boxcar_inbox where stages = 1",
                                        "select count(*) from inbox where stages = 1"),
                     1);
    assert_int_equal(count_rows(f), 0); /* and nothing was written for it */
}

static const struct CMUnitTest TESTS[] = {
    TEST(store_sets_its_own_flags),
    TEST(retry_sees_what_is_done),
    TEST(records_are_fenced_like_acks),
    TEST(stages_and_verdict_go_in_one_batch),
    TEST(stages_come_with_a_result),
    TEST(unknown_flags_are_refused),
    TEST(stages_are_purged_with_their_messages),
    TEST(replay_sees_what_was_done),
};

const struct suite STAGES_SUITE = SUITE(TESTS);
