/* The same message id again is a no-op that says so. */
#include "conformance.h"

static boxcar_enqueued enqueue_id(struct fixture *f, boxcar_message_id id, const char *payload) {
    boxcar_new_message message = new_message("t", payload);
    message.message_id = id;
    return enqueue_message(f, &message);
}

/* BX-027 */
static void known_message_id_is_a_duplicate_whatever_the_content(void **state) {
    struct fixture *f = *state;
    boxcar_message_id id = {boxcar_uuid_new()};
    boxcar_enqueued first = enqueue_id(f, id, "original"), again = enqueue_id(f, id, "different");
    assert_false(first.duplicate);
    assert_true(again.duplicate);
    assert_int_equal(again.work_id.value, first.work_id.value);
    assert_same_message_id(again.message_id, id);
    boxcar_message_list *list = claim(f, f->owner, 10);
    assert_text(look(list)->payload, "original");
    boxcar_list_free(list);
}

/* BX-027 */
static void duplicate_is_told_in_every_state_of_the_message(void **state) {
    struct fixture *f = *state;
    boxcar_message_id id = {boxcar_uuid_new()};
    boxcar_enqueued first = enqueue_id(f, id, "p");
    struct taken taken = take(f, f->owner, first.work_id);
    assert_true(enqueue_id(f, id, "p").duplicate);
    assert_true(abandon(f, f->owner, taken, 0));
    assert_true(enqueue_id(f, id, "p").duplicate);
    assert_true(ack(f, f->owner, take(f, f->owner, first.work_id)));
    assert_true(enqueue_id(f, id, "p").duplicate);
    assert_status(f, first.work_id, BOXCAR_DONE);
    assert_nothing_claimable(f);
    boxcar_enqueued dead = enqueue_dead(f, "t", "no");
    assert_true(enqueue_id(f, dead.message_id, "p").duplicate);
    assert_dead(f, dead.work_id, BOXCAR_REASON_REJECTED);
}

/* BX-027 */
static void id_is_free_again_once_its_message_is_purged(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued gone = enqueue_dead(f, "t", "no");
    boxcar_dead_filter all = BOXCAR_DEAD_FILTER_INIT;
    all.all = true;
    ASSERT_OK(f, boxcar_dead_purge(f->store, &all, NULL, &f->err));
    boxcar_enqueued anew = enqueue_id(f, gone.message_id, "p");
    assert_false(anew.duplicate);
    assert_true(anew.work_id.value > gone.work_id.value);
    take(f, f->owner, anew.work_id);
}

/* BX-027 */
static void same_id_twice_in_one_call_is_stored_once(void **state) {
    struct fixture *f = *state;
    boxcar_new_message messages[3] = {new_message("t", "first"), new_message("t", "other"),
                                      new_message("t", "second")};
    messages[0].message_id = messages[2].message_id = (boxcar_message_id){boxcar_uuid_new()};
    boxcar_enqueued enqueued[3];
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, 3, enqueued, &f->err));
    assert_false(enqueued[0].duplicate || enqueued[1].duplicate);
    assert_true(enqueued[2].duplicate);
    assert_int_equal(enqueued[2].work_id.value, enqueued[0].work_id.value);
    assert_int_equal(stats_of(f).ready, 2);
    boxcar_message_list *list = find(f, enqueued[0].work_id);
    assert_text(look(list)->payload, "first");
    boxcar_list_free(list);
}

/* BX-027, OBX-097 */
static void new_and_known_messages_may_share_a_call(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued known = enqueue(f, "t", "known");
    boxcar_new_message messages[3] = {new_message("t", "a"), new_message("t", "b"), new_message("t", "c")};
    messages[1].message_id = known.message_id;
    boxcar_enqueued enqueued[3];
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, 3, enqueued, &f->err));
    assert_false(enqueued[0].duplicate || enqueued[2].duplicate);
    assert_true(enqueued[1].duplicate);
    assert_int_equal(enqueued[1].work_id.value, known.work_id.value);
    assert_true(enqueued[0].work_id.value > known.work_id.value);
    assert_true(enqueued[2].work_id.value > enqueued[0].work_id.value);
    assert_int_equal(stats_of(f).ready, 3);
}

/* BX-027 */
static void key_stands_for_one_message(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = new_message("t", "p");
    message.key = BOXCAR_STR("invoice 4711 \xe2\x82\xac");
    boxcar_enqueued first = enqueue_message(f, &message), again = enqueue_message(f, &message);
    assert_same_message_id(first.message_id, boxcar_message_id_of_topic_key(message.topic, message.key));
    assert_false(first.duplicate);
    assert_true(again.duplicate);
    assert_int_equal(again.work_id.value, first.work_id.value);
    message.key = BOXCAR_STR("invoice 4712");
    assert_false(enqueue_message(f, &message).duplicate);
}

static const char *enqueue_shared_ids(struct crew_member *member) {
    boxcar_message_id *ids = member->context;
    for (int i = 0; i < 20; i++) {
        boxcar_new_message message = new_message("t", "p");
        message.message_id = ids[member->number % 2 ? i : 19 - i];
        boxcar_enqueued enqueued;
        if (boxcar_enqueue(member->store, BOXCAR_OUTBOX, &message, &enqueued, &member->err) != BOXCAR_OK)
            return "enqueue";
    }
    return NULL;
}

/* BX-027, OBX-100 */
static void same_ids_from_many_connections_at_once_are_stored_once(void **state) {
    struct fixture *f = *state;
    boxcar_message_id ids[20];
    for (int i = 0; i < 20; i++)
        ids[i].uuid = boxcar_uuid_new();
    crew_run(f, 4, enqueue_shared_ids, ids);
    struct taken taken[30];
    assert_int_equal(take_all(f, f->owner, 30000, taken, 30), 20);
}

static const char *enqueue_batches_of_shared_ids(struct crew_member *member) {
    boxcar_message_id *ids = member->context;
    boxcar_new_message messages[20];
    for (int i = 0; i < 20; i++) {
        messages[i] = new_message("t", "p");
        messages[i].message_id = ids[member->number % 2 ? i : 19 - i];
    }
    for (int i = 0; i < 5; i++)
        if (boxcar_enqueue_many(member->store, BOXCAR_OUTBOX, messages, 20, NULL, &member->err) != BOXCAR_OK)
            return "enqueue_many";
    return NULL;
}

/* OBX-099, BX-027 */
static void batches_with_the_same_ids_in_opposite_order_do_not_fail_by_deadlock(void **state) {
    struct fixture *f = *state;
    for (int round = 0; round < 5; round++) {
        boxcar_message_id ids[20];
        for (int i = 0; i < 20; i++)
            ids[i].uuid = boxcar_uuid_new();
        crew_run(f, 4, enqueue_batches_of_shared_ids, ids);
    }
    assert_int_equal(stats_of(f).ready, 100);
}

static const struct CMUnitTest TESTS[] = {
    TEST(known_message_id_is_a_duplicate_whatever_the_content),
    TEST(duplicate_is_told_in_every_state_of_the_message),
    TEST(id_is_free_again_once_its_message_is_purged),
    TEST(same_id_twice_in_one_call_is_stored_once),
    TEST(new_and_known_messages_may_share_a_call),
    TEST(key_stands_for_one_message),
    TEST(same_ids_from_many_connections_at_once_are_stored_once),
    TEST(batches_with_the_same_ids_in_opposite_order_do_not_fail_by_deadlock),
};

const struct suite DUPLICATE_SUITE = SUITE(TESTS);
