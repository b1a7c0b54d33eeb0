#include "actions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WAIT_TRIES = 1000, WAIT_STEP_MS = 10 };

void assert_text(boxcar_str actual, const char *wanted) {
    assert_non_null(actual.data);
    assert_int_equal(actual.len, strlen(wanted));
    assert_memory_equal(actual.data, wanted, actual.len);
}

void assert_absent(boxcar_str actual) { assert_null(actual.data); }

void assert_same_message_id(boxcar_message_id a, boxcar_message_id b) {
    assert_memory_equal(a.uuid.bytes, b.uuid.bytes, sizeof(a.uuid.bytes));
}

void assert_same_owner(boxcar_owner a, boxcar_owner b) {
    assert_memory_equal(a.uuid.bytes, b.uuid.bytes, sizeof(a.uuid.bytes));
}

boxcar_new_message new_message(const char *topic, const char *payload) {
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    message.topic = boxcar_str_of(topic);
    message.payload = boxcar_str_of(payload);
    return message;
}

boxcar_enqueued enqueue_message(struct fixture *f, const boxcar_new_message *message) {
    boxcar_enqueued enqueued;
    ASSERT_OK(f, boxcar_enqueue(f->store, BOXCAR_OUTBOX, message, &enqueued, &f->err));
    return enqueued;
}

boxcar_enqueued enqueue(struct fixture *f, const char *topic, const char *payload) {
    boxcar_new_message message = new_message(topic, payload);
    return enqueue_message(f, &message);
}

boxcar_enqueued enqueue_streamed(struct fixture *f, const char *stream, const char *payload) {
    boxcar_new_message message = new_message("t", payload);
    message.stream = boxcar_str_of(stream);
    return enqueue_message(f, &message);
}

void enqueue_many(struct fixture *f, const char *topic, size_t count, boxcar_work_id *ret_ids) {
    boxcar_new_message *messages = calloc(count, sizeof(*messages));
    boxcar_enqueued *enqueued = calloc(count, sizeof(*enqueued));
    assert_true(messages && enqueued);
    for (size_t i = 0; i < count; i++)
        messages[i] = new_message(topic, "p");
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, count, enqueued, &f->err));
    for (size_t i = 0; ret_ids && i < count; i++)
        ret_ids[i] = enqueued[i].work_id;
    free(messages);
    free(enqueued);
}

static boxcar_message_list *claim_with(struct fixture *f, boxcar_owner owner, int batch_size,
                                       int64_t lease_ms, const boxcar_str *topics, size_t topic_count) {
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    options.owner = owner;
    options.batch_size = batch_size;
    options.lease_ms = lease_ms;
    options.topics = topics;
    options.topic_count = topic_count;
    boxcar_message_list *list = NULL;
    ASSERT_OK(f, boxcar_claim(f->store, &options, &list, &f->err));
    assert_non_null(list);
    assert_true(list->count <= (size_t)batch_size);
    return list;
}

boxcar_message_list *claim_for(struct fixture *f, boxcar_owner owner, int batch_size, int64_t lease_ms) {
    return claim_with(f, owner, batch_size, lease_ms, NULL, 0);
}

boxcar_message_list *claim(struct fixture *f, boxcar_owner owner, int batch_size) {
    return claim_for(f, owner, batch_size, BOXCAR_LEASE_MS_DEFAULT);
}

boxcar_message_list *claim_topic(struct fixture *f, boxcar_owner owner, int batch_size, const char *topic) {
    boxcar_str pattern = boxcar_str_of(topic);
    return claim_with(f, owner, batch_size, BOXCAR_LEASE_MS_DEFAULT, &pattern, 1);
}

boxcar_message_list *claim_wait(struct fixture *f, boxcar_owner owner, int batch_size, int64_t lease_ms) {
    for (int i = 0; i < WAIT_TRIES; i++) {
        boxcar_message_list *list = claim_for(f, owner, batch_size, lease_ms);
        if (list->count > 0)
            return list;
        boxcar_list_free(list);
        pause_ms(WAIT_STEP_MS);
    }
    fail_msg("nothing became claimable");
    return NULL;
}

void assert_nothing_claimable(struct fixture *f) {
    boxcar_message_list *list = claim(f, (boxcar_owner){boxcar_uuid_new()}, 100);
    assert_int_equal(list->count, 0);
    boxcar_list_free(list);
}

static struct taken taken_of(const boxcar_message *message) {
    return (struct taken){message->work_id, message->epoch, message->retry_count, message->crash_count};
}

static struct taken only_one(boxcar_message_list *list, boxcar_work_id wanted) {
    assert_int_equal(list->count, 1);
    struct taken taken = taken_of(list->items[0]);
    boxcar_list_free(list);
    assert_int_equal(taken.work_id.value, wanted.value);
    assert_true(taken.epoch.value > 0);
    return taken;
}

struct taken take_for(struct fixture *f, boxcar_owner owner, boxcar_work_id wanted, int64_t lease_ms) {
    return only_one(claim_for(f, owner, 1, lease_ms), wanted);
}

struct taken take(struct fixture *f, boxcar_owner owner, boxcar_work_id wanted) {
    return take_for(f, owner, wanted, BOXCAR_LEASE_MS_DEFAULT);
}

struct taken take_wait(struct fixture *f, boxcar_owner owner, boxcar_work_id wanted, int64_t lease_ms) {
    return only_one(claim_wait(f, owner, 1, lease_ms), wanted);
}

size_t take_all(struct fixture *f, boxcar_owner owner, int64_t lease_ms, struct taken *ret_taken,
                size_t max) {
    size_t count = 0;
    while (count < max) {
        boxcar_message_list *list = claim_for(f, owner, (int)(max - count), lease_ms);
        size_t more = list->count;
        for (size_t i = 0; i < more; i++)
            ret_taken[count++] = taken_of(list->items[i]);
        boxcar_list_free(list);
        if (more == 0)
            break;
    }
    return count;
}

boxcar_settlement settlement_of(struct taken taken) {
    boxcar_settlement settlement = BOXCAR_SETTLEMENT_INIT;
    settlement.work_id = taken.work_id;
    settlement.epoch = taken.epoch;
    return settlement;
}

bool settle_in_box(struct fixture *f, boxcar_box box, boxcar_settle_kind how, boxcar_owner owner,
                   const boxcar_settlement *settlement) {
    boxcar_work_id affected = {0};
    size_t count = 99;
    ASSERT_OK(f,
              boxcar_settle(f->store, CLAIMER(box, owner), how, settlement, 1, &affected, &count, &f->err));
    assert_in_range(count, 0, 1);
    if (count == 1)
        assert_int_equal(affected.value, settlement->work_id.value);
    return count == 1;
}

bool settle(struct fixture *f, boxcar_settle_kind how, boxcar_owner owner,
            const boxcar_settlement *settlement) {
    return settle_in_box(f, BOXCAR_OUTBOX, how, owner, settlement);
}

bool ack(struct fixture *f, boxcar_owner owner, struct taken taken) {
    boxcar_settlement settlement = settlement_of(taken);
    return settle(f, BOXCAR_ACK, owner, &settlement);
}

bool abandon(struct fixture *f, boxcar_owner owner, struct taken taken, int64_t delay_ms) {
    boxcar_settlement settlement = settlement_of(taken);
    settlement.delay_ms = delay_ms;
    settlement.error = BOXCAR_STR("it did not work");
    return settle(f, BOXCAR_ABANDON, owner, &settlement);
}

bool defer(struct fixture *f, boxcar_owner owner, struct taken taken, int64_t delay_ms) {
    boxcar_settlement settlement = settlement_of(taken);
    settlement.delay_ms = delay_ms;
    return settle(f, BOXCAR_DEFER, owner, &settlement);
}

bool bury(struct fixture *f, boxcar_owner owner, struct taken taken, const char *error) {
    boxcar_settlement settlement = settlement_of(taken);
    settlement.error = boxcar_str_of(error);
    return settle(f, BOXCAR_FAIL, owner, &settlement);
}

bool renew(struct fixture *f, boxcar_owner owner, struct taken taken, int64_t lease_ms) {
    boxcar_settlement settlement = settlement_of(taken);
    size_t count = 99;
    ASSERT_OK(f, boxcar_settle(f->store, CLAIMER_FOR(BOXCAR_OUTBOX, owner, lease_ms), BOXCAR_RENEW,
                               &settlement, 1, NULL, &count, &f->err));
    assert_in_range(count, 0, 1);
    return count == 1;
}

int64_t reap(struct fixture *f) {
    int64_t count = -1;
    ASSERT_OK(f, boxcar_reap(f->store, BOXCAR_OUTBOX, &count, &f->err));
    return count;
}

boxcar_status say_alive(boxcar_store *store, boxcar_owner owner, boxcar_box box, const char *host,
                        const boxcar_str *topics, size_t topic_count, boxcar_error *err) {
    boxcar_heartbeat heartbeat = BOXCAR_HEARTBEAT_INIT;
    boxcar_request_part part = BOXCAR_REQUEST_PART_INIT;
    boxcar_request request = BOXCAR_REQUEST_INIT;
    boxcar_result *result = NULL;
    heartbeat.host = boxcar_str_of(host);
    heartbeat.pid = 4711;
    heartbeat.concurrency = 4;
    part.topics = topics;
    part.topic_count = topic_count;
    request.owner = owner;
    request.heartbeat = &heartbeat;
    request.parts[box] = &part;
    request.stale_threshold_ms = 86400000;
    boxcar_status status = boxcar_process(store, &request, &result, err);
    boxcar_result_free(result);
    return status;
}

void reap_wait(struct fixture *f, int64_t count) {
    int64_t released = 0;
    for (int i = 0; i < WAIT_TRIES && released < count; i++) {
        released += reap(f);
        if (released < count)
            pause_ms(WAIT_STEP_MS);
    }
    assert_int_equal(released, count);
}

void pause_ms(int64_t ms) {
    struct timespec pause = {ms / 1000, (ms % 1000) * 1000000};
    nanosleep(&pause, NULL);
}
