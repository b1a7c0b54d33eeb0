/* Workers and the streams that each is preferred for; order never depends on it. */
#include <stdio.h>
#include <string.h>

#include "seam.h"
#include "streams.h"

enum { PARTITIONS = BOXCAR_PARTITION_COUNT_DEFAULT };

static boxcar_instance_list *instances(struct fixture *f) {
    boxcar_instance_list *list = NULL;
    ASSERT_OK(f, boxcar_instance_read(f->store, &list, &f->err));
    return list;
}

static size_t count_instances(struct fixture *f) {
    boxcar_instance_list *list = instances(f);
    size_t count = list->count;
    boxcar_list_free(list);
    return count;
}

static boxcar_instance instance_of(struct fixture *f, boxcar_owner owner) {
    boxcar_instance found = {.rank = -1};
    boxcar_instance_list *list = instances(f);
    for (size_t i = 0; i < list->count; i++) {
        const boxcar_instance *instance = list->items[i];
        if (memcmp(&instance->owner, &owner, sizeof(owner)) == 0)
            found = *instance;
    }
    boxcar_list_free(list);
    assert_true(found.rank >= 0);
    return found;
}

static void say_farewell(struct fixture *f, boxcar_owner owner) {
    ASSERT_OK(f, seam_farewell(f->store, owner, &f->err));
}

static boxcar_maintenance maintain(struct fixture *f) {
    boxcar_maintenance done = BOXCAR_MAINTENANCE_INIT;
    ASSERT_OK(f, boxcar_maintenance_run(f->store, &done, &f->err));
    return done;
}

/* A key whose partition this worker has, as instances_read() tells; `number`: the how manieth. */
static void key_of(struct fixture *f, boxcar_owner owner, int number, char ret_key[16]) {
    boxcar_instance instance = instance_of(f, owner);
    for (int i = 0, met = 0;; i++) {
        snprintf(ret_key, 16, "k%d", i);
        int partition = boxcar_stream_partition(boxcar_str_of(ret_key), PARTITIONS);
        if (partition >= instance.first_partition &&
            partition < instance.first_partition + instance.partition_count && met++ == number)
            return;
    }
}

/* BX-061 */
static void live_workers_are_listed_by_rank_with_their_partitions(void **state) {
    struct fixture *f = *state;
    boxcar_owner owners[3] = {f->owner, f->other, (boxcar_owner){boxcar_uuid_new()}};
    assert_int_equal(count_instances(f), 0);
    for (int i = 0; i < 3; i++)
        beat(f, owners[i]);
    boxcar_instance_list *list = instances(f);
    assert_int_equal(list->count, 3);
    int next = 0;
    for (int i = 0; i < 3; i++) {
        const boxcar_instance *instance = list->items[(size_t)i];
        assert_int_equal(instance->rank, i);
        assert_int_equal(instance->first_partition, next);
        assert_int_equal(instance->first_partition, i * PARTITIONS / 3);
        next += instance->partition_count;
        assert_text(instance->host, "the-host");
        assert_int_equal(instance->pid, 4711);
        assert_int_equal(instance->concurrency, 4);
        assert_true(instance->started_at <= instance->seen_at && instance->seen_at <= database_now(f) + 1000);
        assert_int_equal(instance->leased, 0);
        assert_true(instance->oldest_lease_at == BOXCAR_TIME_NONE);
        if (i > 0)
            assert_true(
                memcmp(&list->items[(size_t)i - 1]->owner, &instance->owner, sizeof(instance->owner)) < 0);
    }
    assert_int_equal(next, PARTITIONS);
    assert_int_equal(list->count, 3);
    assert_int_equal(
        fixture_sql_number(f, "select sum(partition_count) + 1000000 * sum(rank) from boxcar_instance",
                           "select sum(partition_count) + 1000000 * sum(rank) from instance"),
        PARTITIONS + 3000000);
    boxcar_list_free(list);
}

/* BX-061 */
static void worker_shows_what_it_holds_and_since_when(void **state) {
    struct fixture *f = *state;
    beat(f, f->owner);
    beat(f, f->other);
    enqueue_many(f, "t", 3, NULL);
    boxcar_time before = database_now(f);
    struct batch_taken batch = claim_batch(f, f->owner, 2);
    boxcar_time after = database_now(f) + 1000;
    claim_batch(f, f->owner, 1);
    boxcar_instance instance = instance_of(f, f->owner);
    assert_int_equal(instance.leased, 3);
    assert_in_range(instance.oldest_lease_at, before, after);
    assert_int_equal(instance_of(f, f->other).leased, 0);
    assert_int_equal(ack_batch(f, f->owner, &batch), 2);
    assert_int_equal(instance_of(f, f->owner).leased, 1);
    assert_true(instance_of(f, f->owner).oldest_lease_at >= before);
}

/* BX-061 */
static void partitions_are_shared_out_anew_when_workers_come_and_go(void **state) {
    struct fixture *f = *state;
    beat(f, f->owner);
    assert_int_equal(instance_of(f, f->owner).partition_count, PARTITIONS);
    beat(f, f->other);
    assert_int_equal(instance_of(f, f->owner).partition_count, PARTITIONS / 2);
    assert_int_equal(instance_of(f, f->other).partition_count, PARTITIONS / 2);
    assert_int_equal(instance_of(f, f->owner).rank + instance_of(f, f->other).rank, 1);
    say_farewell(f, f->other);
    assert_int_equal(instance_of(f, f->owner).partition_count, PARTITIONS);
    beat(f, f->other);
    go_silent_31s(f);
    assert_int_equal(count_instances(f), 0);
    beat(f, f->other);
    assert_int_equal(instance_of(f, f->other).partition_count, PARTITIONS);
}

/* BX-061 */
static void cap_limits_the_partitions_of_a_worker(void **state) {
    struct fixture *f = *state;
    set_setting(f, "partitions_per_instance_max", "100");
    beat(f, f->owner);
    beat(f, f->other);
    boxcar_instance_list *list = instances(f);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(list->items[i]->partition_count, 100);
        assert_int_equal(list->items[i]->first_partition, (int)i * PARTITIONS / 2);
    }
    boxcar_list_free(list);
}

/* BX-061: streams of the other one are left to it for a second. */
static void fresh_streams_of_others_are_left_alone(void **state) {
    struct fixture *f = *state;
    char key[16];
    beat(f, f->owner);
    beat(f, f->other);
    for (int i = 0; i < 60; i++) { /* until one round takes less than that */
        key_of(f, f->other, i, key);
        boxcar_time before = database_now(f);
        boxcar_work_id id = enqueue_streamed(f, key, "p").work_id;
        struct batch_taken batch = claim_batch(f, f->owner, 10);
        bool in_time = database_now(f) - before < 900000;
        if (in_time)
            assert_int_equal(batch.count, 0);
        if (batch.count == 0)
            batch = take_run(f, f->other, &id, 1);
        ack_batch(f, f->other, &batch);
        ack_batch(f, f->owner, &batch);
        if (in_time)
            return;
    }
    fail_msg("60 rounds took 900 ms or more each: nothing was proved on so slow a machine");
}

/* BX-061 */
static void stream_that_its_worker_does_not_come_for_is_anybodys(void **state) {
    struct fixture *f = *state;
    char key[16];
    beat(f, f->owner);
    beat(f, f->other);
    key_of(f, f->other, 0, key);
    take_wait(f, f->owner, enqueue_streamed(f, key, "p").work_id, 30000);
}

/* BX-061: what has waited is anybody's, also when the one before it in its stream was done only now. */
static void message_that_has_waited_is_anybodys(void **state) {
    struct fixture *f = *state;
    char key[16];
    beat(f, f->owner);
    beat(f, f->other);
    key_of(f, f->other, 0, key);
    boxcar_work_id first = enqueue_streamed(f, key, "p").work_id;
    boxcar_work_id second = enqueue_streamed(f, key, "p").work_id;
    wait_out(f, 1100);
    struct taken taken = take_wait(f, f->owner, first, 30000);
    assert_true(ack(f, f->owner, taken));
    take(f, f->owner, second);
}

static void beat_for(struct fixture *f, boxcar_owner owner, const boxcar_str *topics, size_t count) {
    ASSERT_OK(f, say_alive(f->store, owner, BOXCAR_OUTBOX, "h", topics, count, &f->err));
}

/* BX-061: nobody waits for a worker that would not come. The order in which topics are given does not matter.
 */
static void workers_share_partitions_with_those_of_the_same_topics(void **state) {
    const boxcar_str MAIL[] = {BOXCAR_STR("mail"), BOXCAR_STR("t")};
    const boxcar_str SAME[] = {BOXCAR_STR("t"), BOXCAR_STR("mail")};
    const boxcar_str OTHER[] = {BOXCAR_STR("orders")};
    struct fixture *f = *state;
    boxcar_owner third = {boxcar_uuid_new()};
    char key[16];
    beat_for(f, f->owner, MAIL, 2);
    beat_for(f, f->other, SAME, 2);
    assert_int_equal(instance_of(f, f->owner).partition_count, PARTITIONS / 2);
    assert_int_equal(instance_of(f, f->other).partition_count, PARTITIONS / 2);
    beat_for(f, third, OTHER, 1);
    assert_int_equal(instance_of(f, third).partition_count, PARTITIONS);
    say_farewell(f, f->other);
    assert_int_equal(instance_of(f, f->owner).partition_count, PARTITIONS);
    key_of(f, third, 0, key);
    take(f, f->owner, enqueue_streamed(f, key, "p").work_id);
}

/* BX-061 */
static void own_streams_come_first_however_long_others_have_waited(void **state) {
    struct fixture *f = *state;
    char key[16];
    beat(f, f->owner);
    beat(f, f->other);
    key_of(f, f->other, 0, key);
    boxcar_work_id others = enqueue_streamed(f, key, "p").work_id;
    wait_out(f, 1100);
    key_of(f, f->owner, 0, key);
    boxcar_work_id own = enqueue_streamed(f, key, "p").work_id;
    take(f, f->owner, own);
    take_wait(f, f->owner, others, 30000);
}

/* BX-061 */
static void worker_that_is_alone_has_every_stream(void **state) {
    struct fixture *f = *state;
    char key[16];
    beat(f, f->owner);
    beat(f, f->other);
    key_of(f, f->other, 0, key);
    say_farewell(f, f->other);
    take(f, f->owner, enqueue_streamed(f, key, "p").work_id);
}

/* BX-061 */
static void claimer_that_is_no_worker_takes_any_stream(void **state) {
    struct fixture *f = *state;
    char own[16], others[16];
    beat(f, f->owner);
    beat(f, f->other);
    key_of(f, f->owner, 0, own);
    key_of(f, f->other, 0, others);
    enqueue_streamed(f, own, "p");
    enqueue_streamed(f, others, "p");
    assert_int_equal(claim_batch(f, (boxcar_owner){boxcar_uuid_new()}, 10).count, 2);
}

/* BX-061 */
static void streamless_messages_are_anybodys(void **state) {
    struct fixture *f = *state;
    beat(f, f->owner);
    beat(f, f->other);
    enqueue_many(f, "t", 20, NULL);
    assert_int_equal(claim_batch(f, f->owner, 100).count, 20);
    boxcar_new_message later = new_message("t", "p");
    later.delay_ms = 1;
    enqueue_message(f, &later);
    wait_out(f, 2);
    assert_int_equal(claim_batch(f, f->owner, 100).count, 1);
}

/* BX-061 */
static void partitions_that_the_cap_leaves_over_are_anybodys_at_once(void **state) {
    struct fixture *f = *state;
    char key[16];
    set_setting(f, "partitions_per_instance_max", "1");
    beat(f, f->owner);
    beat(f, f->other);
    for (int i = 0;; i++) {
        snprintf(key, sizeof(key), "k%d", i);
        int partition = boxcar_stream_partition(boxcar_str_of(key), PARTITIONS);
        if (partition != 0 && partition != PARTITIONS / 2)
            break;
    }
    boxcar_work_id ids[2];
    enqueue_run(f, key, 2, ids);
    struct taken first = take(f, f->owner, ids[0]);
    assert_true(ack(f, f->owner, first));
    take(f, f->other, ids[1]);
}

/* BX-061, BX-006: however ownership changes, a stream in hands stays there. */
static void leased_stream_is_not_taken_from_its_worker_by_a_new_one(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[3];
    beat(f, f->owner);
    enqueue_run(f, "s", 2, ids);
    struct batch_taken batch = take_run(f, f->owner, ids, 2);
    enqueue_run(f, "s", 1, ids + 2);
    beat(f, f->other);
    assert_int_equal(claim_batch(f, f->other, 10).count, 0);
    assert_int_equal(ack_batch(f, f->owner, &batch), 2);
}

/* BX-061, BX-003 */
static void leases_of_a_silent_worker_are_released_as_expired(void **state) {
    struct fixture *f = *state;
    boxcar_work_id plain = enqueue(f, "t", "p").work_id, kept = enqueue(f, "t", "p").work_id, ids[2];
    beat(f, f->owner);
    struct taken lost = take_for(f, f->owner, plain, HOUR), alive = take_for(f, f->other, kept, HOUR);
    enqueue_run(f, "s", 2, ids);
    struct batch_taken run = claim_batch_for(f, f->owner, 10, HOUR);
    assert_taken(&run, ids, 2);
    go_silent_31s(f);
    beat(f, f->other);
    assert_int_equal(maintain(f).reaped, 3);
    assert_int_equal(maintain(f).reaped, 0);
    assert_int_equal(count_instances(f), 1);
    assert_int_equal(retry_count_of(f, plain), 1);
    assert_status(f, plain, BOXCAR_READY);
    assert_status(f, kept, BOXCAR_IN_PROGRESS);
    assert_false(ack(f, f->owner, lost));
    assert_int_equal(ack_batch(f, f->owner, &run), 0);
    assert_true(ack(f, f->other, alive));
    struct taken again[3];
    assert_int_equal(take_all(f, f->other, 30000, again, 2), 2); /* the plain one and the head, each alone */
    for (int i = 0; i < 2; i++)
        assert_int_equal(again[i].crash_count, 1);
}

/* BX-061 */
static void claimers_that_never_said_they_live_keep_their_leases(void **state) {
    struct fixture *f = *state;
    struct taken taken = take(f, f->owner, enqueue(f, "t", "p").work_id);
    beat(f, f->other);
    go_silent_31s(f);
    assert_int_equal(maintain(f).reaped, 0);
    assert_true(ack(f, f->owner, taken));
}

/* BX-061: it was only slow. */
static void removed_worker_comes_back_with_its_next_heartbeat(void **state) {
    struct fixture *f = *state;
    beat(f, f->owner);
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    struct taken lost = take(f, f->owner, id);
    go_silent_31s(f);
    maintain(f);
    assert_int_equal(count_instances(f), 0);
    beat(f, f->owner);
    assert_int_equal(count_instances(f), 1);
    assert_false(ack(f, f->owner, lost));
    assert_true(ack(f, f->owner, take(f, f->owner, id)));
}

/* BX-061 */
static void death_of_a_silent_worker_uses_up_attempts(void **state) {
    struct fixture *f = *state;
    set_setting(f, "stream_policy", "halt");
    boxcar_work_id id = enqueue_fragile(f, "s", 1);
    beat(f, f->owner);
    take_for(f, f->owner, id, HOUR);
    go_silent_31s(f);
    maintain(f);
    assert_dead(f, id, BOXCAR_REASON_EXHAUSTED);
    assert_stream_state(f, "s", BOXCAR_STREAM_HALTED);
}

static boxcar_status ask_for_partitions(struct fixture *f, int count) {
    boxcar_request request = BOXCAR_REQUEST_INIT;
    boxcar_new_message message = new_message("t", "p");
    boxcar_result *result = NULL;
    boxcar_status status;
    request.partition_count = count;
    request.messages[BOXCAR_OUTBOX] = (boxcar_new_message_list){&message, 1};
    message.stream = BOXCAR_STR("first");
    f->err = BOXCAR_ERROR_INIT;
    status = boxcar_process(f->store, &request, &result, &f->err);
    if (status == BOXCAR_OK)
        boxcar_result_free(result);
    return status;
}

/* BX-060: a request may bring the number along, before its own messages: the first of a stream fixes it. */
static void request_says_how_many_partitions_there_are(void **state) {
    struct fixture *f = *state;
    boxcar_request request = BOXCAR_REQUEST_INIT;
    boxcar_result *result = NULL;
    ASSERT_INVALID(f, "partition_count", ask_for_partitions(f, BOXCAR_PARTITION_COUNT_MAX + 1));
    ASSERT_INVALID(f, "partition_count", ask_for_partitions(f, -1));
    request.partition_count = 5;
    ASSERT_OK(f, boxcar_process(f->store, &request, &result, &f->err)); /* by itself */
    boxcar_result_free(result);
    beat(f, f->owner);
    assert_int_equal(instance_of(f, f->owner).partition_count, 5);
    ASSERT_OK(f, ask_for_partitions(f, 7));
    assert_int_equal(instance_of(f, f->owner).partition_count, 7);
    assert_int_equal(stream_of(f, "first").partition, boxcar_stream_partition(BOXCAR_STR("first"), 7));
    ASSERT_OK(f, ask_for_partitions(f, 7));
    ASSERT_OK(f, ask_for_partitions(f, 0));
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, ask_for_partitions(f, 8));
    assert_non_null(strstr(f->err.message, "partition_count"));
    assert_int_equal(stats_of(f).ready + stats_of(f).waiting, 3); /* the refused one stored nothing */
    assert_int_equal(instance_of(f, f->owner).partition_count, 7);
}

static boxcar_status ask_by_coordinator(struct fixture *f, boxcar_store *lent, int count) {
    boxcar_coordinator_options options = BOXCAR_COORDINATOR_OPTIONS_INIT;
    boxcar_store_options store = fixture_options(f);
    boxcar_coordinator *coordinator = NULL;
    boxcar_status status;
    options.store = lent ? NULL : &store;
    options.lent = lent;
    options.strategy = BOXCAR_STRATEGY_SCOPED;
    options.partition_count = count;
    f->err = BOXCAR_ERROR_INIT;
    status = boxcar_coordinator_new(&options, &coordinator, &f->err);
    boxcar_coordinator_free(coordinator);
    return status;
}

/* BX-060: asked when the coordinator is made, so that no operation is refused for it later. */
static void coordinator_says_how_many_partitions_there_are(void **state) {
    struct fixture *f = *state;
    ASSERT_INVALID(f, "partition_count", ask_by_coordinator(f, NULL, BOXCAR_PARTITION_COUNT_MAX + 1));
    ASSERT_INVALID(f, "partition_count", ask_by_coordinator(f, NULL, -1));
    ASSERT_OK(f, ask_by_coordinator(f, NULL, 5));
    beat(f, f->owner);
    assert_int_equal(instance_of(f, f->owner).partition_count, 5);
    ASSERT_OK(f, ask_by_coordinator(f, f->store, 7));
    enqueue_streamed(f, "s", "p");
    assert_int_equal(stream_of(f, "s").partition, boxcar_stream_partition(BOXCAR_STR("s"), 7));
    ASSERT_OK(f, ask_by_coordinator(f, NULL, 7));
    ASSERT_OK(f, ask_by_coordinator(f, NULL, 0));
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, ask_by_coordinator(f, NULL, 8));
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, ask_by_coordinator(f, f->store, 8));
    assert_non_null(strstr(f->err.message, "partition_count"));
}

/* BX-060 */
static void number_of_partitions_is_fixed_by_the_first_stream(void **state) {
    struct fixture *f = *state;
    set_setting(f, "partition_count", "64");
    enqueue(f, "t", "p");
    set_setting(f, "partition_count", "128");
    enqueue_streamed(f, "s", "p");
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT,
                 boxcar_setting_write(f->store, BOXCAR_STR("partition_count"), BOXCAR_STR("64"), &f->err));
    assert_non_null(strstr(f->err.message, "partition_count"));
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT,
                 boxcar_setting_write(f->store, BOXCAR_STR("partition_count"), BOXCAR_NO_STR, &f->err));
    assert_int_equal(stream_of(f, "s").partition, boxcar_stream_partition(BOXCAR_STR("s"), 128));
    beat(f, f->owner);
    assert_int_equal(instance_of(f, f->owner).partition_count, 128);
    struct batch_taken batch = claim_batch(f, f->owner, 10);
    assert_int_equal(ack_batch(f, f->owner, &batch), 2);
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, /* also when nothing of it is left */
                 boxcar_setting_write(f->store, BOXCAR_STR("partition_count"), BOXCAR_STR("64"), &f->err));
    set_setting(f, "partitions_per_instance_max", "7");
    assert_int_equal(instance_of(f, f->owner).partition_count, 7);
}

/* BX-011, BX-060 */
static void partition_settings_have_ranges(void **state) {
    struct fixture *f = *state;
    static const char *const BAD[][2] = {{"partition_count", "0"},
                                         {"partition_count", "1000001"},
                                         {"partition_count", "x"},
                                         {"partitions_per_instance_max", "-1"}};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
        ASSERT_INVALID(
            f, "value",
            boxcar_setting_write(f->store, boxcar_str_of(BAD[i][0]), boxcar_str_of(BAD[i][1]), &f->err));
    set_setting(f, "partition_count", "1");
    set_setting(f, "partition_count", "1000000");
    beat(f, f->owner);
    assert_int_equal(instance_of(f, f->owner).partition_count, 1000000);
}

static const struct CMUnitTest TESTS[] = {
    TEST(live_workers_are_listed_by_rank_with_their_partitions),
    TEST(worker_shows_what_it_holds_and_since_when),
    TEST(partitions_are_shared_out_anew_when_workers_come_and_go),
    TEST(cap_limits_the_partitions_of_a_worker),
    TEST(fresh_streams_of_others_are_left_alone),
    TEST(stream_that_its_worker_does_not_come_for_is_anybodys),
    TEST(message_that_has_waited_is_anybodys),
    TEST(workers_share_partitions_with_those_of_the_same_topics),
    TEST(own_streams_come_first_however_long_others_have_waited),
    TEST(worker_that_is_alone_has_every_stream),
    TEST(claimer_that_is_no_worker_takes_any_stream),
    TEST(streamless_messages_are_anybodys),
    TEST(partitions_that_the_cap_leaves_over_are_anybodys_at_once),
    TEST(leased_stream_is_not_taken_from_its_worker_by_a_new_one),
    TEST(leases_of_a_silent_worker_are_released_as_expired),
    TEST(claimers_that_never_said_they_live_keep_their_leases),
    TEST(removed_worker_comes_back_with_its_next_heartbeat),
    TEST(death_of_a_silent_worker_uses_up_attempts),
    TEST(number_of_partitions_is_fixed_by_the_first_stream),
    TEST(request_says_how_many_partitions_there_are),
    TEST(coordinator_says_how_many_partitions_there_are),
    TEST(partition_settings_have_ranges),
};

const struct suite PARTITION_SUITE = SUITE(TESTS);
