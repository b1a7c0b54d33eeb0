/* Keys: they belong to their topic, and unique ones are free again once their message has ended. */
#include <stdatomic.h>
#include <stdio.h>

#include "borrow.h"
#include "boxes.h"
#include "conformance.h"

static boxcar_new_message keyed(const char *topic, const char *key, bool unique) {
    boxcar_new_message message = new_message(topic, "p");
    message.key = boxcar_str_of(key);
    message.unique = unique;
    return message;
}

static boxcar_enqueued enqueue_keyed(struct fixture *f, const char *topic, const char *key) {
    boxcar_new_message message = keyed(topic, key, false);
    return enqueue_message(f, &message);
}

static boxcar_enqueued enqueue_unique(struct fixture *f, const char *topic, const char *key) {
    boxcar_new_message message = keyed(topic, key, true);
    return enqueue_message(f, &message);
}

/* Both are told of the same message. */
static void assert_duplicate_of(boxcar_enqueued again, boxcar_enqueued first) {
    assert_true(again.duplicate);
    assert_int_equal(again.work_id.value, first.work_id.value);
    assert_same_message_id(again.message_id, first.message_id);
}

static void assert_new(boxcar_enqueued next, boxcar_enqueued before) {
    assert_false(next.duplicate);
    assert_true(next.work_id.value > before.work_id.value);
    assert_memory_not_equal(&next.message_id, &before.message_id, sizeof(next.message_id));
}

/* ---- topics ---- */

/* BX-027 */
static void same_key_in_two_topics_is_two_messages(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued order = enqueue_keyed(f, "orders.placed", "order-1");
    boxcar_enqueued mail = enqueue_keyed(f, "mail.send", "order-1");
    assert_new(mail, order);
    assert_duplicate_of(enqueue_keyed(f, "orders.placed", "order-1"), order);
    assert_duplicate_of(enqueue_keyed(f, "mail.send", "order-1"), mail);
    assert_same_message_id(mail.message_id,
                           boxcar_message_id_of_topic_key(BOXCAR_STR("mail.send"), BOXCAR_STR("order-1")));
}

/* BX-027: where the topic ends and the key begins makes a difference. */
static void topic_and_key_are_kept_apart(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued first = enqueue_keyed(f, "ab", "c");
    assert_new(enqueue_keyed(f, "a", "bc"), first);
}

/* As a program of schema version 9 stores it: with an id that is of the key alone. */
static boxcar_enqueued enqueue_as_version_9(struct fixture *f, const char *topic, const char *key) {
    boxcar_new_message message = new_message(topic, "of version 9");
    message.message_id = boxcar_message_id_of_key(boxcar_str_of(key));
    return enqueue_message(f, &message);
}

/* BX-027, BX-029 */
static void key_of_an_older_program_is_known_in_its_topic(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued old = enqueue_as_version_9(f, "orders", "k");
    assert_duplicate_of(enqueue_keyed(f, "orders", "k"), old);
    boxcar_enqueued mail = enqueue_keyed(f, "mail", "k");
    assert_new(mail, old);
    assert_true(ack(f, f->owner, take(f, f->owner, old.work_id)));
    assert_duplicate_of(enqueue_keyed(f, "orders", "k"), old);
    boxcar_new_message both[] = {keyed("orders", "k", false), keyed("orders", "other", false)};
    boxcar_enqueued results[2];
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, both, 2, results, &f->err));
    assert_duplicate_of(results[0], old);
    assert_false(results[1].duplicate);
}

/* The first of them comes in one call with a key of today. BX-027, BX-029 */
static void key_of_an_older_program_is_known_when_it_came_among_others(void **state) {
    struct fixture *f = *state;
    boxcar_new_message both[] = {keyed("orders", "other", false), new_message("orders", "old")};
    both[1].message_id = boxcar_message_id_of_key(BOXCAR_STR("k"));
    boxcar_enqueued results[2];
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, both, 2, results, &f->err));
    assert_duplicate_of(enqueue_keyed(f, "orders", "k"), results[1]);
}

/* ---- unique ---- */

/* BX-027 */
static void unique_key_is_taken_until_its_message_is_done(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued first = enqueue_unique(f, "t", "k");
    assert_false(first.duplicate);
    assert_duplicate_of(enqueue_unique(f, "t", "k"), first);
    struct taken taken = take(f, f->owner, first.work_id);
    assert_duplicate_of(enqueue_unique(f, "t", "k"), first);
    assert_true(abandon(f, f->owner, taken, 0));
    assert_duplicate_of(enqueue_unique(f, "t", "k"), first);
    assert_true(ack(f, f->owner, take(f, f->owner, first.work_id)));
    boxcar_enqueued second = enqueue_unique(f, "t", "k");
    assert_new(second, first);
    assert_duplicate_of(enqueue_unique(f, "t", "k"), second);
    assert_false(enqueue_unique(f, "other", "k").duplicate);
    assert_false(enqueue_unique(f, "t", "other").duplicate);
}

static void cancel_message(struct fixture *f, boxcar_work_id work_id) {
    boxcar_message_ref ref = {.work_id = work_id};
    ASSERT_OK(f, boxcar_message_cancel(f->store, BOXCAR_OUTBOX, ref, &f->err));
}

/* BX-027, BX-028, BX-005 */
static void unique_key_is_free_once_its_message_is_dead_however_it_died(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued first = enqueue_unique(f, "t", "k");
    assert_true(bury(f, f->owner, take(f, f->owner, first.work_id), "no"));
    boxcar_enqueued second = enqueue_unique(f, "t", "k");
    assert_new(second, first);
    cancel_message(f, second.work_id);
    boxcar_new_message brief = keyed("t", "k", true);
    brief.ttl_ms = 1;
    boxcar_enqueued third = enqueue_message(f, &brief);
    assert_new(third, second);
    wait_out(f, 1);
    assert_nothing_claimable(f);
    boxcar_maintenance done = BOXCAR_MAINTENANCE_INIT;
    ASSERT_OK(f, boxcar_maintenance_run(f->store, &done, &f->err));
    assert_dead(f, third.work_id, BOXCAR_REASON_EXPIRED);
    boxcar_enqueued fourth = enqueue_unique(f, "t", "k");
    assert_new(fourth, third);
    assert_duplicate_of(enqueue_unique(f, "t", "k"), fourth);
}

/* BX-027 */
/* A batch that settles as well locks its keys ahead. BX-027 */
static void plain_key_and_unique_key_are_two_in_a_batch_too(void **state) {
    struct fixture *f = *state;
    boxcar_new_message unique = keyed("t", "k", true);
    boxcar_settlement done =
        settlement_of(take_from(f, BOXCAR_OUTBOX, f->owner, put_into(f, BOXCAR_OUTBOX, "t", "x", NULL)));
    boxcar_settlement failed =
        settlement_of(take_from(f, BOXCAR_OUTBOX, f->owner, put_into(f, BOXCAR_OUTBOX, "t", "y", NULL)));
    boxcar_enqueued plain = enqueue_keyed(f, "t", "k");
    boxcar_request_part part = BOXCAR_REQUEST_PART_INIT;
    boxcar_request batch = BOXCAR_REQUEST_INIT;
    boxcar_result *result = NULL;
    part.settle[BOXCAR_ACK] = (boxcar_settlement_list){&done, 1};
    part.settle[BOXCAR_FAIL] = (boxcar_settlement_list){&failed, 1};
    batch.owner = f->owner;
    batch.parts[BOXCAR_OUTBOX] = &part;
    batch.messages[BOXCAR_OUTBOX] = (boxcar_new_message_list){&unique, 1};
    ASSERT_OK(f, boxcar_process(f->store, &batch, &result, &f->err));
    assert_new(*result->enqueued[BOXCAR_OUTBOX].items[0], plain);
    boxcar_result_free(result);
}

static void unique_key_needs_a_key(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = new_message("t", "p");
    message.unique = true;
    ASSERT_INVALID(f, "unique", boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, NULL, &f->err));
    message.key = BOXCAR_STR("k");
    ASSERT_OK(f, boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, NULL, &f->err));
}

/* BX-027 */
static void unique_key_twice_in_one_call_is_stored_once(void **state) {
    struct fixture *f = *state;
    boxcar_new_message messages[] = {keyed("t", "k", true), keyed("t", "plain", false), keyed("t", "k", true),
                                     new_message("t", "no key"), keyed("u", "k", true)};
    boxcar_enqueued results[5];
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, 5, results, &f->err));
    assert_duplicate_of(results[2], results[0]);
    assert_false(results[0].duplicate || results[1].duplicate || results[3].duplicate ||
                 results[4].duplicate);
    assert_int_equal(stats_of(f).ready, 4);
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, 5, results, &f->err));
    assert_true(results[0].duplicate && results[1].duplicate && results[2].duplicate && results[4].duplicate);
    assert_false(results[3].duplicate);
    assert_int_equal(stats_of(f).ready, 5);
}

/* BX-027, BX-001: one that was rolled back has taken nothing. */
static void unique_key_is_taken_by_what_commits(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    boxcar_new_message message = keyed("t", "k", true);
    boxcar_enqueued first;
    borrowed_exec(&b, "begin");
    ASSERT_OK(f, boxcar_enqueue(b.store, BOXCAR_OUTBOX, &message, &first, &f->err));
    borrowed_exec(&b, "rollback");
    assert_false(enqueue_unique(f, "t", "k").duplicate);
    borrowed_close(&b);
}

/* BX-027, BX-026 */
static void unique_key_is_forgotten_with_its_message(void **state) {
    struct fixture *f = *state;
    static const char COUNT_SQLITE[] = "select count(*) from boxcar_unique_key";
    static const char COUNT_POSTGRES[] = "select count(*) from unique_key";
    boxcar_enqueued done = enqueue_unique(f, "t", "done"), dead = enqueue_unique(f, "t", "dead");
    boxcar_enqueued kept = enqueue_unique(f, "t", "kept"), older = enqueue_unique(f, "t", "again");
    struct taken taken[4];
    assert_int_equal(take_all(f, f->owner, 30000, taken, 4), 4);
    assert_true(ack(f, f->owner, taken[0]));
    assert_true(bury(f, f->owner, taken[1], "no"));
    assert_true(ack(f, f->owner, taken[3]));
    boxcar_enqueued newer = enqueue_unique(f, "t", "again");
    assert_int_equal(fixture_sql_number(f, COUNT_SQLITE, COUNT_POSTGRES), 4);
    set_setting(f, "retention_done", "0s");
    set_setting(f, "retention_dead", "0s");
    boxcar_maintenance maintained = BOXCAR_MAINTENANCE_INIT;
    ASSERT_OK(f, boxcar_maintenance_run(f->store, &maintained, &f->err));
    assert_int_equal(fixture_sql_number(f, COUNT_SQLITE, COUNT_POSTGRES), 2);
    assert_duplicate_of(enqueue_unique(f, "t", "kept"), kept);
    assert_duplicate_of(enqueue_unique(f, "t", "again"), newer);
    assert_new(enqueue_unique(f, "t", "done"), done);
    assert_new(enqueue_unique(f, "t", "dead"), dead);
    (void)older;
}

/* ---- replay ---- */

static boxcar_status replay(struct fixture *f, const boxcar_enqueued *dead, int64_t *ret_count) {
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    boxcar_message_ref ref = {.work_id = dead ? dead->work_id : (boxcar_work_id){0}};
    filter.refs = dead ? &ref : NULL;
    filter.ref_count = dead != NULL;
    filter.all = !dead;
    return boxcar_dead_replay(f->store, &filter, BOXCAR_NO_STR, ret_count, &f->err);
}

static boxcar_enqueued enqueue_unique_dead(struct fixture *f, const char *key) {
    boxcar_enqueued enqueued = enqueue_unique(f, "t", key);
    assert_true(bury(f, f->owner, take(f, f->owner, enqueued.work_id), "no"));
    return enqueued;
}

/* BX-027, BX-004 */
static void replay_takes_the_unique_key_back(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued dead = enqueue_unique_dead(f, "k");
    int64_t count = 0;
    ASSERT_OK(f, replay(f, &dead, &count));
    assert_int_equal(count, 1);
    assert_duplicate_of(enqueue_unique(f, "t", "k"), dead);
    assert_true(ack(f, f->owner, take(f, f->owner, dead.work_id)));
    assert_new(enqueue_unique(f, "t", "k"), dead);
}

/* BX-027, BX-004 */
static void replay_is_refused_while_a_newer_message_has_the_key(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued dead = enqueue_unique_dead(f, "k"), plain = enqueue_dead(f, "t", "no");
    boxcar_enqueued newer = enqueue_unique(f, "t", "k");
    int64_t count = 7;
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, replay(f, &dead, &count));
    assert_int_equal(count, 7);
    ASSERT_OK(f, replay(f, NULL, &count)); /* all: this one is passed over */
    assert_int_equal(count, 1);
    assert_dead(f, dead.work_id, BOXCAR_REASON_REJECTED);
    assert_status(f, plain.work_id, BOXCAR_READY);
    cancel_message(f, newer.work_id);
    ASSERT_OK(f, replay(f, &dead, &count));
    assert_int_equal(count, 1);
    assert_duplicate_of(enqueue_unique(f, "t", "k"), dead);
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, replay(f, &newer, &count));
}

/* BX-027, BX-004 */
static void of_dead_letters_with_one_key_the_newest_is_replayed(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued older = enqueue_unique_dead(f, "k"), newer = enqueue_unique_dead(f, "k");
    int64_t count = 0;
    ASSERT_OK(f, replay(f, NULL, &count));
    assert_int_equal(count, 1);
    assert_status(f, newer.work_id, BOXCAR_READY);
    assert_dead(f, older.work_id, BOXCAR_REASON_REJECTED);
}

/* ---- at once ---- */

enum { KEYS = 24, HANDS = 6, ROUNDS = 4 };

struct contest {
    char keys[KEYS][8];
    _Atomic int stored[KEYS];
};

static int key_at(const struct crew_member *member, int step) {
    int at = (step + member->number * 5) % KEYS;
    return member->number % 2 ? at : KEYS - 1 - at;
}

/* Each in an order of its own: without an order in the store they would wait for each other in circles. */
static const char *enqueue_all(struct crew_member *member) {
    struct contest *contest = member->context;
    boxcar_new_message messages[KEYS];
    boxcar_enqueued results[KEYS];
    for (int i = 0; i < KEYS; i++)
        messages[i] = keyed("t", contest->keys[key_at(member, i)], true);
    if (boxcar_enqueue_many(member->store, BOXCAR_OUTBOX, messages, KEYS, results, &member->err) != BOXCAR_OK)
        return "enqueue";
    for (int i = 0; i < KEYS; i++) {
        if (results[i].work_id.value <= 0)
            return "a duplicate without its message";
        atomic_fetch_add(&contest->stored[key_at(member, i)], !results[i].duplicate);
    }
    return NULL;
}

/* BX-027, OBX-099 */
static void unique_keys_taken_by_many_at_once_are_stored_once(void **state) {
    struct fixture *f = *state;
    struct contest contest = {.stored = {0}};
    for (int i = 0; i < KEYS; i++)
        snprintf(contest.keys[i], sizeof(contest.keys[i]), "%d", i);
    for (int round = 1; round <= ROUNDS; round++) {
        struct taken taken[KEYS + 1];
        crew_run(f, HANDS, enqueue_all, &contest);
        for (int i = 0; i < KEYS; i++)
            assert_int_equal(contest.stored[i], round);
        assert_int_equal(take_all(f, f->owner, 30000, taken, KEYS + 1), KEYS);
        for (int i = 0; i < KEYS; i++)
            assert_true(ack(f, f->owner, taken[i]));
    }
}

/* Enqueues with one hand and settles with the other, in one batch: keys are locked before leases. */
static const char *exchange(struct crew_member *member) {
    struct contest *contest = member->context;
    for (int round = 0; round < 3 * ROUNDS; round++) {
        boxcar_message_list *list = NULL;
        boxcar_claimer claim = BOXCAR_CLAIMER_INIT;
        boxcar_request batch = BOXCAR_REQUEST_INIT;
        boxcar_request_part part = BOXCAR_REQUEST_PART_INIT;
        boxcar_new_message messages[KEYS];
        boxcar_settlement settlements[KEYS];
        boxcar_result *result = NULL;
        size_t count, half;
        for (int i = 0; i < KEYS; i++)
            messages[i] = keyed("t", contest->keys[key_at(member, i)], true);
        claim.owner = batch.owner = member->owner;
        claim.batch_size = KEYS / 2;
        if (boxcar_claim(member->store, &claim, &list, &member->err) != BOXCAR_OK)
            return "claim";
        count = list->count;
        half = count / 2;
        for (size_t i = 0; i < count; i++) {
            const boxcar_message *message = list->items[i];
            settlements[i] = (boxcar_settlement)BOXCAR_SETTLEMENT_INIT;
            settlements[i].work_id = message->work_id;
            settlements[i].epoch = message->epoch;
        }
        boxcar_list_free(list);
        part.settle[BOXCAR_ACK] = (boxcar_settlement_list){settlements, half};
        part.settle[BOXCAR_FAIL] = (boxcar_settlement_list){settlements + half, count - half};
        batch.parts[BOXCAR_OUTBOX] = &part;
        batch.messages[BOXCAR_OUTBOX] = (boxcar_new_message_list){messages, KEYS};
        if (boxcar_process(member->store, &batch, &result, &member->err) != BOXCAR_OK)
            return "process";
        boxcar_result_free(result);
    }
    return NULL;
}

/* BX-027, BX-064 */
static void unique_keys_and_settlements_in_one_batch_wait_in_no_circle(void **state) {
    struct fixture *f = *state;
    struct contest contest = {.stored = {0}};
    for (int i = 0; i < KEYS; i++)
        snprintf(contest.keys[i], sizeof(contest.keys[i]), "%d", i);
    crew_run(f, HANDS, exchange, &contest);
    crew_run(f, 1, enqueue_all, &contest); /* now every key has one message, and none has two */
    boxcar_stats stats = stats_of(f);
    assert_int_equal(stats.ready + stats.waiting + stats.in_progress, KEYS);
}

static const struct CMUnitTest TESTS[] = {
    TEST(same_key_in_two_topics_is_two_messages),
    TEST(topic_and_key_are_kept_apart),
    TEST(key_of_an_older_program_is_known_in_its_topic),
    TEST(key_of_an_older_program_is_known_when_it_came_among_others),
    TEST(unique_key_is_taken_until_its_message_is_done),
    TEST(unique_key_is_free_once_its_message_is_dead_however_it_died),
    TEST(plain_key_and_unique_key_are_two_in_a_batch_too),
    TEST(unique_key_needs_a_key),
    TEST(unique_key_twice_in_one_call_is_stored_once),
    TEST(unique_key_is_taken_by_what_commits),
    TEST(unique_key_is_forgotten_with_its_message),
    TEST(replay_takes_the_unique_key_back),
    TEST(replay_is_refused_while_a_newer_message_has_the_key),
    TEST(of_dead_letters_with_one_key_the_newest_is_replayed),
    TEST(unique_keys_taken_by_many_at_once_are_stored_once),
    TEST(unique_keys_and_settlements_in_one_batch_wait_in_no_circle),
};

const struct suite KEY_SUITE = SUITE(TESTS);
