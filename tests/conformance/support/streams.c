#include "streams.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void enqueue_run(struct fixture *f, const char *stream, size_t count, boxcar_work_id *ret_ids) {
    boxcar_new_message *messages = calloc(count, sizeof(*messages));
    boxcar_enqueued *enqueued = calloc(count, sizeof(*enqueued));
    assert_true(messages && enqueued);
    for (size_t i = 0; i < count; i++) {
        messages[i] = new_message("t", "p");
        messages[i].stream = boxcar_str_of(stream);
    }
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, count, enqueued, &f->err));
    for (size_t i = 0; ret_ids && i < count; i++)
        ret_ids[i] = enqueued[i].work_id;
    free(messages);
    free(enqueued);
}

boxcar_work_id enqueue_in_stream(struct fixture *f, const char *stream, const char *topic) {
    boxcar_new_message message = new_message(topic, "p");
    message.stream = boxcar_str_of(stream);
    return enqueue_message(f, &message).work_id;
}

boxcar_work_id enqueue_fragile(struct fixture *f, const char *stream, int max_attempts) {
    boxcar_new_message message = new_message("t", "p");
    message.stream = boxcar_str_of(stream);
    message.max_attempts = max_attempts;
    return enqueue_message(f, &message).work_id;
}

struct batch_taken claim_batch_for(struct fixture *f, boxcar_owner owner, int size, int64_t lease_ms) {
    struct batch_taken batch = {.count = 0};
    boxcar_message_list *list = claim_for(f, owner, size, lease_ms);
    batch.count = list->count;
    assert_true(batch.count <= RUN_MAX);
    for (size_t i = 0; i < batch.count; i++) {
        const boxcar_message *m = list->items[i];
        batch.items[i] = (struct taken){m->work_id, m->epoch, m->retry_count, m->crash_count};
        snprintf(batch.streams[i], sizeof(batch.streams[i]), "%.*s", (int)m->stream.len,
                 m->stream.data ? m->stream.data : "");
        assert_true(i == 0 || batch.items[i - 1].work_id.value < m->work_id.value);
    }
    boxcar_list_free(list);
    return batch;
}

struct batch_taken claim_batch(struct fixture *f, boxcar_owner owner, int size) {
    return claim_batch_for(f, owner, size, BOXCAR_LEASE_MS_DEFAULT);
}

void assert_taken(const struct batch_taken *batch, const boxcar_work_id *ids, size_t count) {
    for (size_t i = 0; i < batch->count && i < count; i++)
        assert_int_equal(batch->items[i].work_id.value, ids[i].value);
    assert_int_equal(batch->count, count);
}

struct batch_taken take_run_for(struct fixture *f, boxcar_owner owner, const boxcar_work_id *ids,
                                size_t count, int64_t lease_ms) {
    struct batch_taken batch = claim_batch_for(f, owner, 2 * (int)count + 4, lease_ms);
    assert_taken(&batch, ids, count);
    return batch;
}

struct batch_taken take_run(struct fixture *f, boxcar_owner owner, const boxcar_work_id *ids, size_t count) {
    return take_run_for(f, owner, ids, count, BOXCAR_LEASE_MS_DEFAULT);
}

size_t ack_batch(struct fixture *f, boxcar_owner owner, const struct batch_taken *batch) {
    boxcar_settlement settlements[RUN_MAX];
    size_t affected = 0;
    for (size_t i = 0; i < batch->count; i++)
        settlements[i] = settlement_of(batch->items[i]);
    ASSERT_OK(f, boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, owner), BOXCAR_ACK, settlements, batch->count,
                               NULL, &affected, &f->err));
    return affected;
}

int64_t violations(struct fixture *f) {
    int64_t count = -1;
    ASSERT_OK(f, boxcar_stream_violation_count(f->store, &count, &f->err));
    return count;
}

boxcar_stream stream_of(struct fixture *f, const char *stream) {
    boxcar_stream_list *list = NULL;
    ASSERT_OK(f, boxcar_stream_find(f->store, BOXCAR_OUTBOX, boxcar_str_of(stream), &list, &f->err));
    assert_int_equal(list->count, 1);
    boxcar_stream found = *list->items[0];
    assert_text(found.stream, stream);
    assert_int_equal(found.box, BOXCAR_OUTBOX);
    found.stream = found.topic = BOXCAR_NO_STR;
    boxcar_list_free(list);
    return found;
}

void assert_stream_state(struct fixture *f, const char *stream, boxcar_stream_state wanted) {
    assert_string_equal(boxcar_stream_state_name(stream_of(f, stream).state),
                        boxcar_stream_state_name(wanted));
}

void assert_no_stream(struct fixture *f, const char *stream) {
    boxcar_stream_list *list = NULL;
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND,
                 boxcar_stream_find(f->store, BOXCAR_OUTBOX, boxcar_str_of(stream), &list, &f->err));
    assert_null(list);
}

void resume(struct fixture *f, const char *stream, bool replay) {
    ASSERT_OK(f, boxcar_stream_resume(f->store, BOXCAR_OUTBOX, boxcar_str_of(stream), replay, &f->err));
}

void set_rule(struct fixture *f, const char *pattern, boxcar_stream_policy policy) {
    ASSERT_OK(f, boxcar_stream_rule_write(f->store, boxcar_str_of(pattern), policy, &f->err));
}

void beat(struct fixture *f, boxcar_owner owner) {
    ASSERT_OK(f, say_alive(f->store, owner, BOXCAR_OUTBOX, "the-host", NULL, 0, &f->err));
}

void go_silent_31s(struct fixture *f) {
    fixture_sql(f, "update boxcar_instance_row set seen_at = seen_at - 31000000",
                "update instance_row set seen_at = seen_at - interval '31 s'; "
                "update instance_sign set seen_at = seen_at - interval '31 s'");
}
