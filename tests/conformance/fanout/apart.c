/* BX-104: nothing spans stores: no id, no join, no transaction. The other store is a file beside the one
 * under test. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "joins.h"
#include "seam.h"
#include "subscriptions.h"

struct pair {
    struct fixture *f;
    struct fixture far; /* of another store; its place is its own business */
    char path[400];
};

static void open_pair(struct pair *pair, struct fixture *f) {
    char url[420];
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    *pair = (struct pair){.f = f};
    pair->far.owner = f->owner;
    pair->far.other = f->other;
    snprintf(pair->path, sizeof(pair->path), "%s/far-%d.db", f->directory[0] ? f->directory : "/tmp",
             (int)getpid());
    snprintf(url, sizeof(url), "sqlite:%s", pair->path);
    options.url = boxcar_str_of(url);
    options.deploy = true;
    ASSERT_OK(f, boxcar_store_open(&options, &pair->far.store, &f->err));
}

static void close_pair(struct pair *pair) {
    static const char *const endings[] = {"", "-wal", "-shm"};
    boxcar_store_close(pair->far.store);
    for (size_t i = 0; i < 3; i++) {
        char path[420];
        snprintf(path, sizeof(path), "%s%s", pair->path, endings[i]);
        (void)unlink(path);
    }
}

/* BX-104 */
static void a_message_of_one_store_is_none_of_the_other(void **state) {
    struct pair pair;
    open_pair(&pair, *state);
    struct fixture *f = pair.f, *far = &pair.far;
    boxcar_enqueued here = enqueue(f, "t", "p");
    boxcar_message_list *list = NULL;
    boxcar_message_ref ref = {.message_id = here.message_id};
    ASSERT_FAILS(far, BOXCAR_E_NOT_FOUND,
                 boxcar_message_find(far->store, BOXCAR_OUTBOX, ref, &list, &far->err));
    assert_nothing_claimable(far);
    struct taken taken = take(f, f->owner, here.work_id);
    assert_false(ack(far, f->owner, taken)); /* a lease of the other store */
    assert_true(ack(f, f->owner, taken));
    close_pair(&pair);
}

/* BX-005, BX-104: an id is a duplicate in its own store alone. */
static void the_same_message_id_is_new_in_each_store(void **state) {
    struct pair pair;
    open_pair(&pair, *state);
    boxcar_new_message message = new_message("t", "p");
    message.message_id = (boxcar_message_id){boxcar_uuid_new()};
    assert_false(enqueue_message(pair.f, &message).duplicate);
    assert_false(enqueue_message(&pair.far, &message).duplicate);
    assert_true(enqueue_message(&pair.far, &message).duplicate);
    assert_true(enqueue_message(pair.f, &message).duplicate);
    close_pair(&pair);
}

/* BX-104 */
static void a_join_of_one_store_takes_no_messages_of_the_other(void **state) {
    struct pair pair;
    open_pair(&pair, *state);
    struct fixture *f = pair.f, *far = &pair.far;
    boxcar_join_id join_id = start_join(f, 1);
    boxcar_new_message step = new_message(STEP, "p");
    boxcar_enqueued enqueued;
    step.join_id = join_id;
    assert_no_join(far, join_id);
    ASSERT_FAILS(far, BOXCAR_E_NOT_FOUND,
                 boxcar_enqueue(far->store, BOXCAR_OUTBOX, &step, &enqueued, &far->err));
    /* The member is known by its id. What has this id elsewhere counts nothing. */
    boxcar_new_message same = new_message(STEP, "p");
    same.message_id = (boxcar_message_id){boxcar_uuid_new()};
    attach(f, join_id, same.message_id);
    boxcar_work_id there = enqueue_message(far, &same).work_id;
    assert_true(ack(far, far->owner, take(far, far->owner, there)));
    assert_join(f, join_id, BOXCAR_JOIN_PENDING, 0, 0);
    boxcar_work_id here = enqueue_message(f, &same).work_id;
    assert_true(ack(f, f->owner, take(f, f->owner, here)));
    assert_join(f, join_id, BOXCAR_JOIN_COMPLETED, 1, 0);
    close_pair(&pair);
}

/* BX-104 */
static void a_transaction_of_one_store_takes_nothing_back_in_the_other(void **state) {
    struct pair pair;
    open_pair(&pair, *state);
    struct fixture *f = pair.f, *far = &pair.far;
    ASSERT_OK(f, seam_begin(f->store, &f->err));
    enqueue(f, "t", "here");
    enqueue(far, "t", "there");
    seam_roll_back(f->store);
    assert_int_equal(stats_of(f).ready, 0);
    assert_int_equal(stats_of(far).ready, 1);
    close_pair(&pair);
}

/* BX-104 */
static void a_subscription_of_one_store_reads_nothing_of_the_other(void **state) {
    struct pair pair;
    open_pair(&pair, *state);
    boxcar_box reader = subscribe(pair.f, "a", "*");
    boxcar_box unknown;
    ASSERT_FAILS(&pair.far, BOXCAR_E_NOT_FOUND,
                 boxcar_subscription_find(pair.far.store, BOXCAR_STR("a"), &unknown, &pair.far.err));
    enqueue(&pair.far, "t", "p");
    assert_nothing_for(pair.f, reader);
    close_pair(&pair);
}

static const struct CMUnitTest TESTS[] = {
    TEST(a_message_of_one_store_is_none_of_the_other),
    TEST(the_same_message_id_is_new_in_each_store),
    TEST(a_join_of_one_store_takes_no_messages_of_the_other),
    TEST(a_transaction_of_one_store_takes_nothing_back_in_the_other),
    TEST(a_subscription_of_one_store_reads_nothing_of_the_other),
};

const struct suite FANOUT_APART_SUITE = SUITE(TESTS);
