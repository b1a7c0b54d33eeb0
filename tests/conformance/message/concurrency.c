/* Many at once, threads and processes: nothing leased twice, nothing lost, no error for callers. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance.h"

enum { MESSAGES = 2000 };

/* How often each work id was handed out or settled. */
struct ledger {
    _Atomic int times[MESSAGES + 1];
    _Atomic int sum;
};

static struct ledger *new_ledger(void) {
    struct ledger *ledger = calloc(1, sizeof(*ledger));
    assert_non_null(ledger);
    return ledger;
}

static bool enter(struct ledger *ledger, boxcar_work_id id) {
    if (id.value < 1 || id.value > MESSAGES || atomic_fetch_add(&ledger->times[id.value], 1) != 0)
        return false;
    atomic_fetch_add(&ledger->sum, 1);
    return true;
}

static boxcar_status member_claim(struct crew_member *member, int batch_size,
                                  boxcar_message_list **ret_list) {
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    options.owner = member->owner;
    options.batch_size = batch_size;
    options.lease_ms = 120000;
    return boxcar_claim(member->store, &options, ret_list, &member->err);
}

static const char *claim_until_empty(struct crew_member *member) {
    struct ledger *ledger = member->context;
    for (;;) {
        boxcar_message_list *list = NULL;
        if (member_claim(member, 1 + member->number * 7, &list) != BOXCAR_OK)
            return "claim";
        size_t count = list->count;
        const char *trouble = NULL;
        for (size_t i = 0; i < count && !trouble; i++)
            if (!enter(ledger, list->items[i]->work_id))
                trouble = "leased twice";
        boxcar_list_free(list);
        if (trouble || count == 0)
            return trouble;
    }
}

/* OBX-017, OBX-100, OBX-101, BX-002, BX-020 */
static void eight_claimers_share_everything_and_nothing_twice(void **state) {
    struct fixture *f = *state;
    struct ledger *ledger = new_ledger();
    enqueue_many(f, "t", MESSAGES, NULL);
    crew_run(f, 8, claim_until_empty, ledger);
    assert_int_equal(ledger->sum, MESSAGES);
    assert_int_equal(stats_of(f).in_progress, MESSAGES);
    free(ledger);
}

/* Even members enqueue 100 each, one by one; odd ones claim and ack until all are done. */
static const char *produce_or_consume(struct crew_member *member) {
    struct ledger *ledger = member->context;
    for (int i = 0; i < 100 && member->number % 2 == 0; i++) {
        boxcar_new_message message = new_message("t", "p");
        boxcar_enqueued enqueued;
        if (boxcar_enqueue(member->store, BOXCAR_OUTBOX, &message, &enqueued, &member->err) != BOXCAR_OK)
            return "enqueue";
    }
    for (int tries = 0; member->number % 2 == 1 && ledger->sum < 300; tries++) {
        boxcar_message_list *list = NULL;
        if (member_claim(member, 10, &list) != BOXCAR_OK)
            return "claim";
        size_t count = list->count;
        for (size_t i = 0; i < count; i++) {
            const boxcar_message *m = list->items[i];
            boxcar_settlement settlement = settlement_of((struct taken){m->work_id, m->epoch, 0, 0});
            size_t affected = 0;
            if (boxcar_settle(member->store, CLAIMER(BOXCAR_OUTBOX, member->owner), BOXCAR_ACK, &settlement,
                              1, NULL, &affected, &member->err) != BOXCAR_OK)
                return "ack";
            if (affected != 1 || !enter(ledger, m->work_id))
                return "done twice";
        }
        boxcar_list_free(list);
        if (tries > 20000)
            return "messages are missing";
    }
    return NULL;
}

/* BX-001, OBX-100, BX-012 */
static void producers_and_consumers_at_once_lose_nothing(void **state) {
    struct fixture *f = *state;
    struct ledger *ledger = new_ledger();
    crew_run(f, 6, produce_or_consume, ledger);
    assert_int_equal(ledger->sum, 300);
    assert_int_equal(stats_of(f).done, 300);
    assert_int_equal(audit_lost(f), 0);
    free(ledger);
}

/* A process of its own: enqueues 40, then claims and acks until the store holds nothing ready. */
static int work_as_process(const struct fixture *f) {
    struct crew_member me = {.owner = (boxcar_owner){boxcar_uuid_new()}};
    if (fixture_try_open(f, &me.store, &me.err) != BOXCAR_OK)
        return 1;
    for (int i = 0; i < 40; i++) {
        boxcar_new_message message = new_message("t", "p");
        boxcar_enqueued enqueued;
        if (boxcar_enqueue(me.store, BOXCAR_OUTBOX, &message, &enqueued, &me.err) != BOXCAR_OK)
            return 2;
    }
    for (int quiet = 0; quiet < 3;) {
        boxcar_message_list *list = NULL;
        if (member_claim(&me, 7, &list) != BOXCAR_OK)
            return 3;
        size_t count = list->count, affected = 0;
        boxcar_settlement settlements[7];
        for (size_t i = 0; i < count; i++) {
            const boxcar_message *m = list->items[i];
            settlements[i] = settlement_of((struct taken){m->work_id, m->epoch, 0, 0});
        }
        boxcar_list_free(list);
        quiet = count == 0 ? quiet + 1 : 0;
        if (boxcar_settle(me.store, CLAIMER(BOXCAR_OUTBOX, me.owner), BOXCAR_ACK, settlements, count, NULL,
                          &affected, &me.err) != BOXCAR_OK)
            return 4;
        if (affected != count)
            return 5;
    }
    boxcar_store_close(me.store);
    return 0;
}

/* OBX-100, OBX-101, BX-001 */
static void eight_processes_on_one_store_meet_no_error_and_lose_nothing(void **state) {
    struct fixture *f = *state;
    pid_t children[8];
    boxcar_store_close(f->store);
    f->store = NULL;
    for (int i = 0; i < 8; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(work_as_process(f));
    }
    for (int i = 0; i < 8; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    f->store = fixture_open(f);
    assert_int_equal(stats_of(f).done, 320);
    assert_nothing_claimable(f);
}

struct shared_work {
    boxcar_owner owner;
    struct taken taken[400];
    _Atomic int affected;
};

/* Everybody settles the same messages in a different order and in a different way. */
static const char *settle_in_own_order(struct crew_member *member) {
    struct shared_work *work = member->context;
    static const boxcar_settle_kind HOW[] = {BOXCAR_ACK, BOXCAR_ACK, BOXCAR_ABANDON, BOXCAR_FAIL};
    for (int start = 0; start < 400; start += 50) {
        boxcar_settlement settlements[50];
        size_t affected = 0;
        for (int i = 0; i < 50; i++) {
            settlements[i] = settlement_of(work->taken[start + (member->number % 2 ? i : 49 - i)]);
            settlements[i].delay_ms = 3600000;
        }
        if (boxcar_settle(member->store, CLAIMER(BOXCAR_OUTBOX, work->owner), HOW[member->number],
                          settlements, 50, NULL, &affected, &member->err) != BOXCAR_OK)
            return "settle";
        atomic_fetch_add(&work->affected, (int)affected);
    }
    return NULL;
}

/* OBX-099, BX-002, OBX-097 */
static void settling_in_opposite_orders_neither_deadlocks_nor_counts_twice(void **state) {
    struct fixture *f = *state;
    static struct shared_work work;
    work.owner = f->owner;
    work.affected = 0;
    enqueue_many(f, "t", 400, NULL);
    assert_int_equal(take_all(f, f->owner, 120000, work.taken, 400), 400);
    crew_run(f, 4, settle_in_own_order, &work);
    assert_int_equal(work.affected, 400);
    boxcar_stats stats = stats_of(f);
    assert_int_equal(stats.in_progress, 0);
    assert_int_equal(stats.done + stats.waiting + stats.failed, 400);
    assert_int_equal(audit_lost(f), 0);
}

static const char *renew_or_ack(struct crew_member *member) {
    struct shared_work *work = member->context;
    for (int i = 0; i < 100; i++) {
        struct taken taken = work->taken[member->number % 2 ? i : 99 - i];
        boxcar_settlement settlement = settlement_of(taken);
        size_t affected = 0;
        boxcar_status status =
            member->number < 2
                ? boxcar_settle(member->store, CLAIMER_FOR(BOXCAR_OUTBOX, work->owner, 120000 + i * 1000),
                                BOXCAR_RENEW, &settlement, 1, NULL, NULL, &member->err)
                : boxcar_settle(member->store, CLAIMER(BOXCAR_OUTBOX, work->owner), BOXCAR_ACK, &settlement,
                                1, NULL, &affected, &member->err);
        if (status != BOXCAR_OK)
            return "renew or ack";
        atomic_fetch_add(&work->affected, (int)affected);
    }
    return NULL;
}

/* OBX-099, BX-002 */
static void renewals_and_acks_of_one_claim_do_not_disturb_each_other(void **state) {
    struct fixture *f = *state;
    static struct shared_work work;
    work.owner = f->owner;
    work.affected = 0;
    enqueue_many(f, "t", 100, NULL);
    assert_int_equal(take_all(f, f->owner, 120000, work.taken, 100), 100);
    crew_run(f, 4, renew_or_ack, &work);
    assert_int_equal(work.affected, 100);
    assert_int_equal(stats_of(f).done, 100);
}

static const char *reap_and_count(struct crew_member *member) {
    int64_t count = 0;
    if (boxcar_reap(member->store, BOXCAR_OUTBOX, &count, &member->err) != BOXCAR_OK)
        return "reap";
    atomic_fetch_add(&((struct ledger *)member->context)->sum, (int)count);
    return NULL;
}

/* OBX-049, BX-003, OBX-100 */
static void reaping_from_many_at_once_counts_each_message_once(void **state) {
    struct fixture *f = *state;
    struct ledger *ledger = new_ledger();
    static struct taken taken[100];
    enqueue_many(f, "t", 100, NULL);
    assert_int_equal(take_all(f, f->owner, BOXCAR_LEASE_MS_MIN, taken, 100), 100);
    wait_out(f, BOXCAR_LEASE_MS_MIN);
    crew_run(f, 4, reap_and_count, ledger);
    assert_int_equal(ledger->sum, 100);
    for (int i = 0; i < 100; i += 9)
        assert_int_equal(retry_count_of(f, taken[i].work_id), 1);
    free(ledger);
}

static const char *cancel_or_claim(struct crew_member *member) {
    struct ledger *ledger = member->context;
    if (member->number > 0)
        return claim_until_empty(member);
    for (int64_t id = 200; id >= 1; id--) {
        boxcar_message_ref ref = {.work_id = {id}};
        boxcar_status status = boxcar_message_cancel(member->store, BOXCAR_OUTBOX, ref, &member->err);
        if (status == BOXCAR_OK && !enter(ledger, ref.work_id))
            return "cancelled and claimed";
        if (status != BOXCAR_OK && status != BOXCAR_E_CONFLICT)
            return "cancel";
    }
    return NULL;
}

/* BX-028, BX-002 */
static void message_is_either_cancelled_or_claimed(void **state) {
    struct fixture *f = *state;
    struct ledger *ledger = new_ledger();
    enqueue_many(f, "t", 200, NULL);
    crew_run(f, 3, cancel_or_claim, ledger);
    assert_int_equal(ledger->sum, 200);
    boxcar_stats stats = stats_of(f);
    assert_int_equal(stats.failed + stats.in_progress, 200);
    assert_int_equal(audit_lost(f), 0);
    free(ledger);
}

struct stream_watch {
    pthread_mutex_t mutex;
    int64_t last[5];
    int busy[5]; /* with whom, from 1 */
    int done;
};

/* Between claim and ack one owner has the stream and may have several of its messages; no other owner gets
 * any. */
static const char *begin(struct stream_watch *w, int number, const boxcar_message *m) {
    const char *trouble = NULL;
    int stream = m->stream.data[1] - '0';
    pthread_mutex_lock(&w->mutex);
    if (w->busy[stream] != 0 && w->busy[stream] != number)
        trouble = "two have messages of one stream";
    else if (m->work_id.value <= w->last[stream])
        trouble = "a stream out of order";
    w->last[stream] = m->work_id.value;
    w->busy[stream] = number;
    pthread_mutex_unlock(&w->mutex);
    return trouble;
}

static void end(struct stream_watch *w, const boxcar_message *m, bool has_more) {
    pthread_mutex_lock(&w->mutex);
    if (!has_more)
        w->busy[m->stream.data[1] - '0'] = 0;
    w->done++;
    pthread_mutex_unlock(&w->mutex);
}

static bool has_more_of_its_stream(const boxcar_message_list *list, size_t i) {
    const boxcar_message *m = list->items[i];
    while (++i < list->count)
        if (list->items[i]->stream.data[1] == m->stream.data[1])
            return true;
    return false;
}

static const char *ack_watched(struct crew_member *member, const boxcar_message_list *list) {
    const char *trouble = NULL;
    for (size_t i = 0; i < list->count && !trouble; i++)
        trouble = begin(member->context, 1 + member->number, list->items[i]);
    for (size_t i = 0; i < list->count && !trouble; i++) {
        const boxcar_message *m = list->items[i];
        boxcar_settlement settlement = settlement_of((struct taken){m->work_id, m->epoch, 0, 0});
        /* before the ack: after it, another may have the next */
        end(member->context, m, has_more_of_its_stream(list, i));
        if (boxcar_settle(member->store, CLAIMER(BOXCAR_OUTBOX, member->owner), BOXCAR_ACK, &settlement, 1,
                          NULL, NULL, &member->err) != BOXCAR_OK)
            trouble = "ack";
    }
    return trouble;
}

static const char *work_on_streams(struct crew_member *member) {
    struct stream_watch *w = member->context;
    for (int tries = 0; tries < 20000; tries++) {
        boxcar_message_list *list = NULL;
        if (member_claim(member, 1 + member->number, &list) != BOXCAR_OK)
            return "claim";
        const char *trouble = ack_watched(member, list);
        boxcar_list_free(list);
        pthread_mutex_lock(&w->mutex);
        bool finished = w->done >= 100;
        pthread_mutex_unlock(&w->mutex);
        if (trouble || finished)
            return trouble;
    }
    return "streams did not end";
}

/* BX-005, BX-020, OBX-100 */
static void streams_stay_in_order_with_many_workers(void **state) {
    struct fixture *f = *state;
    struct stream_watch w = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    static const char *const NAMES[] = {"s0", "s1", "s2", "s3", "s4"};
    for (int i = 0; i < 100; i++)
        enqueue_streamed(f, NAMES[i % 5], "p");
    crew_run(f, 4, work_on_streams, &w);
    assert_int_equal(w.done, 100);
    assert_int_equal(stats_of(f).done, 100);
}

static const struct CMUnitTest TESTS[] = {
    TEST(eight_claimers_share_everything_and_nothing_twice),
    TEST(producers_and_consumers_at_once_lose_nothing),
    TEST(eight_processes_on_one_store_meet_no_error_and_lose_nothing),
    TEST(settling_in_opposite_orders_neither_deadlocks_nor_counts_twice),
    TEST(renewals_and_acks_of_one_claim_do_not_disturb_each_other),
    TEST(reaping_from_many_at_once_counts_each_message_once),
    TEST(message_is_either_cancelled_or_claimed),
    TEST(streams_stay_in_order_with_many_workers),
};

const struct suite CONCURRENCY_SUITE = SUITE(TESTS);
