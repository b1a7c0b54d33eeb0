/* Many at once at the same keys: each is stored, and accepted, exactly once. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "inboxes.h"

enum { KEYS = 120, HANDS = 8, PER_CALL = 12 };

struct keys {
    char ids[KEYS][8];
    _Atomic int stored[KEYS], accepted[KEYS], processed[KEYS], errors;
};

static struct keys *keys_new(void) {
    struct keys *keys = calloc(1, sizeof(*keys));
    assert_non_null(keys);
    for (int i = 0; i < KEYS; i++)
        snprintf(keys->ids[i], sizeof(keys->ids[i]), "%d", i);
    return keys;
}

/* Each member has its own order: without an order in the store they would deadlock. */
static int key_at(const struct crew_member *member, int step) {
    int at = (step * 7 + member->number * 31) % KEYS;
    return member->number % 2 ? at : KEYS - 1 - at;
}

static const char *deliver_all(struct crew_member *member) {
    struct keys *keys = member->context;
    for (int step = 0; step < KEYS; step += PER_CALL) {
        boxcar_new_message messages[PER_CALL];
        boxcar_enqueued results[PER_CALL];
        for (int i = 0; i < PER_CALL; i++)
            messages[i] = delivery("shop", keys->ids[key_at(member, step + i)], "p");
        if (boxcar_enqueue_many(member->store, BOXCAR_INBOX, messages, PER_CALL, results, &member->err) !=
            BOXCAR_OK)
            return "enqueue";
        for (int i = 0; i < PER_CALL; i++) {
            atomic_fetch_add(&keys->stored[key_at(member, step + i)], !results[i].duplicate);
            if (results[i].work_id.value <= 0)
                return "a duplicate without its message";
        }
    }
    return NULL;
}

/* BX-080, BX-001 */
static void same_keys_delivered_at_once_are_stored_once(void **state) {
    struct fixture *f = *state;
    struct keys *keys = keys_new();
    crew_run(f, HANDS, deliver_all, keys);
    for (int i = 0; i < KEYS; i++) {
        assert_int_equal(keys->stored[i], 1);
        assert_int_equal(receipt_of(f, "shop", keys->ids[i]).is.seen_count, HANDS);
    }
    assert_int_equal(count_messages(f), KEYS);
    assert_int_equal(count_keys(f), KEYS);
    free(keys);
}

static const char *accept_all(struct crew_member *member) {
    struct keys *keys = member->context;
    for (int step = 0; step < KEYS; step++) {
        int at = key_at(member, step);
        bool is_new;
        if (boxcar_inbox_accept(member->store, key_of("shop", keys->ids[at]), BOXCAR_NO_STR, &is_new, NULL,
                                &member->err) != BOXCAR_OK)
            return "accept";
        atomic_fetch_add(&keys->accepted[at], is_new);
    }
    return NULL;
}

/* BX-083 */
static void same_keys_accepted_at_once_are_new_once(void **state) {
    struct fixture *f = *state;
    struct keys *keys = keys_new();
    crew_run(f, HANDS, accept_all, keys);
    for (int i = 0; i < KEYS; i++)
        assert_int_equal(keys->accepted[i], 1);
    free(keys);
}

/* One asks, one accepts, one stores, one keeps house. */
static const char *do_everything(struct crew_member *member) {
    struct keys *keys = member->context;
    boxcar_maintenance maintenance = BOXCAR_MAINTENANCE_INIT;
    for (int step = 0; step < KEYS; step++) {
        int at = key_at(member, step);
        boxcar_inbox_key key = key_of("shop", keys->ids[at]);
        boxcar_new_message message = delivery("shop", keys->ids[at], "p");
        boxcar_enqueued enqueued;
        bool answer = false;
        switch (member->number % 4) {
        case 0:
            if (boxcar_inbox_already_processed(member->store, key, BOXCAR_NO_STR, &answer, NULL,
                                               &member->err))
                return "ask";
            if (atomic_load(&keys->processed[at]) && !answer)
                return "a key that was done is not done any more";
            if (answer)
                atomic_store(&keys->processed[at], 1);
            break;
        case 1:
            if (boxcar_inbox_accept(member->store, key, BOXCAR_NO_STR, &answer, NULL, &member->err))
                return "accept";
            atomic_fetch_add(&keys->accepted[at], answer);
            break;
        case 2:
            if (boxcar_enqueue(member->store, BOXCAR_INBOX, &message, &enqueued, &member->err))
                return "enqueue";
            atomic_fetch_add(&keys->stored[at], !enqueued.duplicate);
            break;
        default:
            if (step % 8 == 0 && boxcar_maintenance_run(member->store, &maintenance, &member->err))
                return "maintain";
        }
    }
    return NULL;
}

/* BX-081, BX-082, BX-083: either stored or accepted, never both, never twice */
static void asking_accepting_and_storing_at_once_decide_each_key_once(void **state) {
    struct fixture *f = *state;
    struct keys *keys = keys_new();
    int64_t stored = 0;
    crew_run(f, HANDS, do_everything, keys);
    for (int i = 0; i < KEYS; i++) {
        assert_int_equal(keys->stored[i] + keys->accepted[i], 1);
        stored += keys->stored[i];
    }
    assert_int_equal(count_messages(f), stored);
    free(keys);
}

/* Handle and purge during redeliveries: nothing comes back. */
static const char *work_and_redeliver(struct crew_member *member) {
    struct keys *keys = member->context;
    boxcar_maintenance maintenance = BOXCAR_MAINTENANCE_INIT;
    for (int step = 0; step < KEYS; step++) {
        int at = key_at(member, step);
        if (member->number % 2 == 0) {
            boxcar_new_message message = delivery("shop", keys->ids[at], "p");
            boxcar_enqueued enqueued;
            if (boxcar_enqueue(member->store, BOXCAR_INBOX, &message, &enqueued, &member->err))
                return "enqueue";
            atomic_fetch_add(&keys->stored[at], !enqueued.duplicate);
            continue;
        }
        boxcar_claimer options = BOXCAR_CLAIMER_INIT;
        boxcar_message_list *list = NULL;
        options.box = BOXCAR_INBOX;
        options.owner = member->owner;
        options.batch_size = 3;
        if (boxcar_claim(member->store, &options, &list, &member->err))
            return "claim";
        for (size_t i = 0; i < list->count; i++) {
            const boxcar_message *m = list->items[i];
            boxcar_settlement settlement = settlement_of((struct taken){m->work_id, m->epoch, 0, 0});
            boxcar_work_id affected;
            size_t count = 0;
            boxcar_status status = boxcar_settle(member->store, CLAIMER(BOXCAR_INBOX, member->owner),
                                                 m->work_id.value % 3 ? BOXCAR_ACK : BOXCAR_FAIL, &settlement,
                                                 1, &affected, &count, &member->err);
            if (status || count != 1)
                return "settle";
        }
        boxcar_list_free(list);
        if (step % 5 == 0 && boxcar_maintenance_run(member->store, &maintenance, &member->err))
            return "maintain";
    }
    return NULL;
}

/* BX-082 */
static void redelivery_beside_the_purge_stores_nothing_again(void **state) {
    struct fixture *f = *state;
    struct keys *keys = keys_new();
    set_setting(f, "retention_done", "0");
    set_setting(f, "retention_dead", "0");
    crew_run(f, HANDS, work_and_redeliver, keys);
    crew_run(f, HANDS, work_and_redeliver, keys);
    for (int i = 0; i < KEYS; i++)
        assert_int_equal(keys->stored[i], 1);
    while (maintain_inbox(f).purged_done > 0)
        ;
    assert_int_equal(count_keys(f), KEYS);
    int64_t ended = fixture_sql_number(f, "select count(*) from boxcar_inbox_key where state > 1",
                                       "select count(*) from inbox_key where state > 1");
    assert_int_equal(ended + count_messages(f), KEYS); /* a key without a message has an end */
    free(keys);
}

static const struct CMUnitTest TESTS[] = {
    TEST(same_keys_delivered_at_once_are_stored_once),
    TEST(same_keys_accepted_at_once_are_new_once),
    TEST(asking_accepting_and_storing_at_once_decide_each_key_once),
    TEST(redelivery_beside_the_purge_stores_nothing_again),
};

const struct suite INBOX_RACE_SUITE = SUITE(TESTS);
