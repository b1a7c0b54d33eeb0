/* Joins: starting, attaching, enqueueing members, reporting by hand, cancelling. What counts when messages
 * end is in count.c, what comes of it in wait.c. */
#include <string.h>

#include "joins.h"
#include "log_capture.h"

static bool same_join(boxcar_join_id a, boxcar_join_id b) {
    return memcmp(a.uuid.bytes, b.uuid.bytes, sizeof(a.uuid.bytes)) == 0;
}

/* JOIN-001, JOIN-006, OBX-080, OBX-081, OBX-082 */
static void started_join_is_pending_and_has_counted_nothing(void **state) {
    struct fixture *f = *state;
    boxcar_new_join join = new_join(3);
    join.grouping_key = BOXCAR_STR("customer-\xe2\x82\xac");
    join.metadata = BOXCAR_STR("{\"type\": \"etl\"}");
    boxcar_join_id id = start_this(f, &join), other = start_this(f, &join);
    assert_false(same_join(id, other));
    boxcar_join_list *list = NULL;
    ASSERT_OK(f, boxcar_join_find(f->store, id, &list, &f->err));
    const boxcar_join *found = list->items[0];
    assert_true(same_join(found->join_id, id));
    assert_text(found->grouping_key, "customer-\xe2\x82\xac");
    assert_text(found->metadata, "{\"type\": \"etl\"}");
    assert_int_equal(found->expected_steps, 3);
    assert_true(found->deadline == BOXCAR_TIME_NONE);
    boxcar_list_free(list);
    assert_join(f, id, BOXCAR_JOIN_PENDING, 0, 0);
}

/* JOIN-005, BX-009 */
static void times_of_a_new_join_are_the_databases(void **state) {
    struct fixture *f = *state;
    boxcar_time before = database_now(f);
    boxcar_new_join new = new_join(1);
    new.deadline_ms = 3600000;
    boxcar_join join = join_of(f, start_this(f, &new));
    boxcar_time after = database_now(f);
    assert_true(join.created_at >= before - 5000 && join.created_at <= after + 5000);
    assert_true(join.last_updated_at == join.created_at);
    assert_true(join.deadline == join.created_at + INT64_C(3600) * 1000000);
}

/* JOIN-006: a program that does not know whether its first try arrived may start the same again. */
static void starting_an_id_that_exists_changes_nothing(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 2);
    assert_true(ack(f, f->owner, take_step(f, id)));
    boxcar_new_join again = new_join(7);
    again.join_id = id;
    assert_true(same_join(start_this(f, &again), id));
    assert_join(f, id, BOXCAR_JOIN_PENDING, 1, 0);
    assert_int_equal(join_of(f, id).expected_steps, 2);
    again.join_id = unknown_join();
    assert_true(same_join(start_this(f, &again), again.join_id));
    assert_int_equal(join_of(f, again.join_id).expected_steps, 7);
}

/* JOIN-010, JOIN-013, OBX-083 */
static void attached_message_is_a_pending_member_and_counts_nothing(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 2);
    boxcar_enqueued message = enqueue(f, STEP, "p");
    boxcar_time before = database_now(f);
    boxcar_attached attached = attach(f, id, message.message_id);
    boxcar_time after = database_now(f);
    assert_true(attached.is_new && attached.message_exists);
    boxcar_join_member member = member_of(f, id, message.message_id);
    assert_int_equal(member.status, BOXCAR_MEMBER_PENDING);
    assert_int_equal(member.work_id.value, message.work_id.value);
    assert_true(member.created_at >= before - 5000 && member.created_at <= after + 5000);
    assert_join(f, id, BOXCAR_JOIN_PENDING, 0, 0);
}

/* JOIN-011, OBX-084, BX-043 */
static void attaching_again_is_told_and_changes_nothing(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 2);
    struct taken first = take_step(f, id);
    boxcar_message_list *list = find(f, first.work_id);
    boxcar_message_id member = look(list)->message_id;
    boxcar_list_free(list);
    assert_false(attach(f, id, member).is_new);
    assert_true(ack(f, f->owner, first));
    boxcar_attached again = attach(f, id, member);
    assert_false(again.is_new);
    assert_true(again.message_exists);
    assert_member(f, id, member, BOXCAR_MEMBER_COMPLETED);
    assert_int_equal(maintain_joins(f).settled, 0);
    assert_join(f, id, BOXCAR_JOIN_PENDING, 1, 0);
}

/* JOIN-010, JOIN-011 */
static void many_are_attached_in_one_call_and_told_one_by_one(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 3);
    boxcar_message_id known = enqueue(f, STEP, "p").message_id, other = enqueue(f, STEP, "p").message_id;
    attach(f, id, known);
    boxcar_message_id ids[4] = {other, (boxcar_message_id){boxcar_uuid_new()}, known, other};
    boxcar_attached attached[4] = {BOXCAR_ATTACHED_INIT};
    memset(attached, 0x55, sizeof(attached));
    attached[0].struct_size = sizeof(attached[0]);
    ASSERT_OK(f, boxcar_join_attach(f->store, id, ids, 4, attached, &f->err));
    assert_true(attached[0].is_new && attached[0].message_exists);
    assert_true(attached[1].is_new && !attached[1].message_exists);
    assert_true(!attached[2].is_new && attached[2].message_exists);
    assert_true(!attached[3].is_new && attached[3].message_exists); /* twice in one call is once */
    assert_int_equal(count_members(f, id, BOXCAR_MEMBER_PENDING), 3);
    ASSERT_OK(f, boxcar_join_attach(f->store, id, ids, 4, NULL, &f->err));
    assert_int_equal(count_members(f, id, BOXCAR_MEMBER_PENDING), 3);
}

/* BX-042, JOIN-014: ids first, messages later, by id or by key. */
static void id_without_a_message_is_accepted_and_resolved_by_its_enqueue(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 2);
    boxcar_new_message messages[2] = {new_message(STEP, "p"), new_message(STEP, "p")};
    messages[0].message_id.uuid = boxcar_uuid_new();
    messages[1].key = BOXCAR_STR("invoice 4711");
    boxcar_message_id ids[2] = {messages[0].message_id,
                                boxcar_message_id_of_topic_key(messages[1].topic, messages[1].key)};
    for (int i = 0; i < 2; i++) {
        boxcar_attached attached = attach(f, id, ids[i]);
        assert_true(attached.is_new && !attached.message_exists);
        assert_int_equal(member_of(f, id, ids[i]).work_id.value, 0);
    }
    for (int i = 0; i < 2; i++) {
        boxcar_work_id work_id = enqueue_message(f, &messages[i]).work_id;
        assert_int_equal(member_of(f, id, ids[i]).work_id.value, work_id.value);
        assert_true(ack(f, f->owner, take(f, f->owner, work_id)));
        assert_member(f, id, ids[i], BOXCAR_MEMBER_COMPLETED);
    }
    assert_join(f, id, BOXCAR_JOIN_COMPLETED, 2, 0);
}

/* JOIN-012, BX-043 */
static void unknown_or_ended_joins_take_no_members(void **state) {
    struct fixture *f = *state;
    boxcar_message_id ids[2] = {enqueue(f, STEP, "p").message_id, enqueue(f, STEP, "p").message_id};
    boxcar_join_id unknown = unknown_join(), ended = start_join(f, 9);
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_join_attach(f->store, unknown, ids, 1, NULL, &f->err));
    attach(f, ended, ids[0]);
    ASSERT_OK(f, boxcar_join_cancel(f->store, ended, &f->err));
    boxcar_attached attached[2] = {BOXCAR_ATTACHED_INIT};
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, boxcar_join_attach(f->store, ended, ids, 2, attached, &f->err));
    assert_int_equal(count_members(f, ended, BOXCAR_MEMBER_PENDING), 1);
    assert_false(attach(f, ended, ids[0]).is_new); /* a pair that exists is no news */
}

/* BX-042, JOIN-010 */
static void enqueue_with_a_join_makes_a_member_in_one_step(void **state) {
    struct fixture *f = *state;
    boxcar_join_id one = start_join(f, 2), two = start_join(f, 2);
    boxcar_enqueued first = enqueue_step(f, one);
    assert_false(first.duplicate);
    assert_int_equal(member_of(f, one, first.message_id).work_id.value, first.work_id.value);
    boxcar_new_message messages[3] = {new_message(STEP, "a"), new_message(STEP, "b"), new_message(STEP, "c")};
    messages[0].join_id = one;
    messages[2].join_id = two;
    boxcar_enqueued enqueued[3];
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, 3, enqueued, &f->err));
    assert_member(f, one, enqueued[0].message_id, BOXCAR_MEMBER_PENDING);
    assert_member(f, two, enqueued[2].message_id, BOXCAR_MEMBER_PENDING);
    assert_int_equal(count_members(f, one, BOXCAR_MEMBER_PENDING), 2);
    assert_int_equal(count_members(f, two, BOXCAR_MEMBER_PENDING), 1);
    assert_join(f, one, BOXCAR_JOIN_PENDING, 0, 0);
}

/* BX-042, BX-027: the message is there already, and is attached all the same. */
static void enqueue_of_a_known_id_with_a_join_attaches_it(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    boxcar_enqueued known = enqueue(f, STEP, "p");
    boxcar_new_message message = new_message(STEP, "other");
    message.message_id = known.message_id;
    message.join_id = id;
    for (int i = 0; i < 2; i++) {
        boxcar_enqueued again = enqueue_message(f, &message);
        assert_true(again.duplicate);
        assert_int_equal(again.work_id.value, known.work_id.value);
    }
    assert_int_equal(member_of(f, id, known.message_id).work_id.value, known.work_id.value);
    assert_true(ack(f, f->owner, take(f, f->owner, known.work_id)));
    assert_join(f, id, BOXCAR_JOIN_COMPLETED, 1, 0);
}

/* JOIN-012, BX-043 */
static void enqueue_with_an_unknown_or_ended_join_enqueues_nothing(void **state) {
    struct fixture *f = *state;
    boxcar_join_id open = start_join(f, 2), ended = start_join(f, 2);
    ASSERT_OK(f, boxcar_join_cancel(f->store, ended, &f->err));
    boxcar_new_message messages[2] = {new_message(STEP, "p"), new_message(STEP, "p")};
    boxcar_enqueued enqueued[2];
    messages[0].join_id = open;
    messages[1].join_id = ended;
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT,
                 boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, 2, enqueued, &f->err));
    messages[1].join_id = unknown_join();
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND,
                 boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, 2, enqueued, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND,
                 boxcar_enqueue(f->store, BOXCAR_OUTBOX, &messages[1], enqueued, &f->err));
    assert_nothing_claimable(f);
    assert_int_equal(count_members(f, open, BOXCAR_MEMBER_PENDING), 0);
}

/* JOIN-020, JOIN-021, JOIN-022, OBX-085, OBX-087 */
static void step_reported_by_hand_counts_once(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 3);
    boxcar_message_id good = {boxcar_uuid_new()}, bad = (boxcar_message_id){boxcar_uuid_new()};
    attach(f, id, good);
    attach(f, id, bad);
    assert_true(report(f, id, good, BOXCAR_MEMBER_COMPLETED));
    assert_join(f, id, BOXCAR_JOIN_PENDING, 1, 0);
    assert_true(report(f, id, bad, BOXCAR_MEMBER_FAILED));
    assert_join(f, id, BOXCAR_JOIN_PENDING, 1, 1);
    assert_false(report(f, id, good, BOXCAR_MEMBER_COMPLETED));
    assert_false(report(f, id, bad, BOXCAR_MEMBER_FAILED));
    assert_member(f, id, good, BOXCAR_MEMBER_COMPLETED);
    assert_member(f, id, bad, BOXCAR_MEMBER_FAILED);
    assert_join(f, id, BOXCAR_JOIN_PENDING, 1, 1);
}

/* OBX-086, OBX-088, BX-007 */
static void second_report_with_the_other_outcome_changes_nothing(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 3);
    boxcar_message_id good = {boxcar_uuid_new()}, bad = (boxcar_message_id){boxcar_uuid_new()};
    attach(f, id, good);
    attach(f, id, bad);
    assert_true(report(f, id, good, BOXCAR_MEMBER_COMPLETED));
    assert_true(report(f, id, bad, BOXCAR_MEMBER_FAILED));
    assert_false(report(f, id, good, BOXCAR_MEMBER_FAILED));
    assert_false(report(f, id, bad, BOXCAR_MEMBER_COMPLETED));
    assert_join(f, id, BOXCAR_JOIN_PENDING, 1, 1);
}

/* JOIN-034: the same join, the same members, whether counted by the database or by hand. */
static void report_by_hand_and_settlement_have_the_same_result(void **state) {
    struct fixture *f = *state;
    boxcar_join_id by_hand = start_join(f, 2), by_itself = start_join(f, 2);
    struct taken taken[2];
    take_steps(f, by_itself, taken, 2);
    assert_true(ack(f, f->owner, taken[0]));
    assert_true(bury(f, f->owner, taken[1], "no"));
    boxcar_message_id ids[2] = {(boxcar_message_id){boxcar_uuid_new()},
                                (boxcar_message_id){boxcar_uuid_new()}};
    ASSERT_OK(f, boxcar_join_attach(f->store, by_hand, ids, 2, NULL, &f->err));
    assert_true(report(f, by_hand, ids[0], BOXCAR_MEMBER_COMPLETED));
    assert_true(report(f, by_hand, ids[1], BOXCAR_MEMBER_FAILED));
    assert_join(f, by_itself, BOXCAR_JOIN_FAILED, 1, 1);
    assert_join(f, by_hand, BOXCAR_JOIN_FAILED, 1, 1);
}

/* JOIN-020, BX-040 */
static void report_needs_a_member_and_a_pending_join(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1), unknown = unknown_join();
    boxcar_message_id member = {boxcar_uuid_new()}, late = (boxcar_message_id){boxcar_uuid_new()};
    bool counted = true;
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND,
                 boxcar_join_report(f->store, unknown, member, BOXCAR_MEMBER_COMPLETED, &counted, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND,
                 boxcar_join_report(f->store, id, member, BOXCAR_MEMBER_FAILED, &counted, &f->err));
    attach(f, id, member);
    attach(f, id, late);
    assert_true(report(f, id, member, BOXCAR_MEMBER_COMPLETED));
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT,
                 boxcar_join_report(f->store, id, late, BOXCAR_MEMBER_COMPLETED, &counted, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT,
                 boxcar_join_report(f->store, id, late, BOXCAR_MEMBER_FAILED, NULL, &f->err));
    assert_false(report(f, id, member, BOXCAR_MEMBER_FAILED)); /* has its outcome: no conflict */
    assert_member(f, id, late, BOXCAR_MEMBER_PENDING);
    assert_join(f, id, BOXCAR_JOIN_COMPLETED, 1, 0);
}

/* BX-046, BX-040 */
static void cancelled_join_has_ended(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 2);
    struct taken taken[2];
    take_steps(f, id, taken, 2);
    assert_true(ack(f, f->owner, taken[0]));
    ASSERT_OK(f, boxcar_join_cancel(f->store, id, &f->err));
    assert_join(f, id, BOXCAR_JOIN_CANCELLED, 1, 0);
    assert_true(ack(f, f->owner, taken[1]));
    assert_join(f, id, BOXCAR_JOIN_CANCELLED, 1, 0);
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, boxcar_join_cancel(f->store, id, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_join_cancel(f->store, unknown_join(), &f->err));
}

/* JOIN-070, JOIN-071, JOIN-072 */
static void start_attach_and_end_are_logged(void **state) {
    struct fixture *f = *state;
    struct log_capture *captured = log_capture_new();
    log_capture_reopen(captured, f);
    boxcar_new_join new = new_join(1);
    new.grouping_key = BOXCAR_STR("customer-7");
    new.metadata = BOXCAR_STR("metadata-canary");
    boxcar_join_id id = start_this(f, &new), by_hand = start_join(f, 1);
    char join_id[BOXCAR_UUID_TEXT_SIZE], message_id[BOXCAR_UUID_TEXT_SIZE], other[BOXCAR_UUID_TEXT_SIZE];
    boxcar_uuid_format(id.uuid, join_id);
    boxcar_uuid_format(by_hand.uuid, other);
    assert_true(log_capture_has(captured, "info ", join_id, "grouping_key=customer-7 ", "expected_steps=1 "));
    boxcar_enqueued message = enqueue(f, STEP, "p");
    boxcar_uuid_format(message.message_id.uuid, message_id);
    attach(f, id, message.message_id);
    attach(f, by_hand, message.message_id);
    assert_true(log_capture_has(captured, "debug ", join_id, message_id, NULL));
    assert_true(report(f, by_hand, message.message_id, BOXCAR_MEMBER_COMPLETED));
    assert_true(log_capture_has(captured, "info ", other, "status=completed ", "completed_steps=1 "));
    assert_true(bury(f, f->owner, take(f, f->owner, message.work_id), "no"));
    assert_true(log_capture_has(captured, "info ", join_id, "status=failed ", "failed_steps=1 "));
    assert_false(log_capture_has(captured, "metadata-canary", NULL, NULL, NULL));
    log_capture_free(captured);
}

static const struct CMUnitTest TESTS[] = {
    TEST(started_join_is_pending_and_has_counted_nothing),
    TEST(times_of_a_new_join_are_the_databases),
    TEST(starting_an_id_that_exists_changes_nothing),
    TEST(attached_message_is_a_pending_member_and_counts_nothing),
    TEST(attaching_again_is_told_and_changes_nothing),
    TEST(many_are_attached_in_one_call_and_told_one_by_one),
    TEST(id_without_a_message_is_accepted_and_resolved_by_its_enqueue),
    TEST(unknown_or_ended_joins_take_no_members),
    TEST(enqueue_with_a_join_makes_a_member_in_one_step),
    TEST(enqueue_of_a_known_id_with_a_join_attaches_it),
    TEST(enqueue_with_an_unknown_or_ended_join_enqueues_nothing),
    TEST(step_reported_by_hand_counts_once),
    TEST(second_report_with_the_other_outcome_changes_nothing),
    TEST(report_by_hand_and_settlement_have_the_same_result),
    TEST(report_needs_a_member_and_a_pending_join),
    TEST(cancelled_join_has_ended),
    TEST(start_attach_and_end_are_logged),
};

const struct suite JOIN_SUITE = SUITE(TESTS);
