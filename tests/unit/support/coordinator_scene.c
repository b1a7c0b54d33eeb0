#include "coordinator_scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "request/coordinator/coordinator.h"
#include "unit.h"

static void remember(void *context, const boxcar_flush *flush) {
    struct scene *s = context;

    pthread_mutex_lock(&s->mutex);
    s->flushes++;
    s->failed_flushes += flush->error != NULL;
    s->results += flush->count;
    s->refused += flush->refused_count;
    for (size_t i = 0; i < flush->count; i++) {
        const boxcar_flushed *result = flush->items[i];

        s->enqueued += result->outcome == BOXCAR_OUTCOME_ENQUEUED;
        s->last_ticket = result->ticket;
        if (result->outcome == BOXCAR_OUTCOME_REFUSED)
            s->last_refusal = *result->error;
    }
    pthread_cond_broadcast(&s->told);
    pthread_mutex_unlock(&s->mutex);
}

struct scene *scene_new_with(boxcar_coordinator_options options) {
    struct scene *s = calloc(1, sizeof(*s));

    assert_non_null(s);
    alarm(60); /* what is waited for may never come */
    memory_init(&s->memory);
    s->memory.store.log_level = BOXCAR_LOG_WARN;
    s->memory.all_leased = true;
    pthread_mutex_init(&s->mutex, NULL);
    pthread_cond_init(&s->told, NULL);
    options.owner.uuid.bytes[0] = 1;
    options.size = options.size ? options.size : 10;
    options.queue_max = options.queue_max ? options.queue_max : BOXCAR_QUEUE_MAX_DEFAULT;
    if (!options.on_flush) {
        options.on_flush = remember;
        options.on_flush_context = s;
    }
    assert_int_equal(coordinator_start(&options, &s->memory.store, &s->coordinator, &s->err), BOXCAR_OK);
    return s;
}

struct scene *scene_new(boxcar_strategy strategy) {
    boxcar_coordinator_options options = BOXCAR_COORDINATOR_OPTIONS_INIT;

    options.strategy = strategy;
    options.interval_ms = strategy == BOXCAR_STRATEGY_INTERVAL ? 1 : 0;
    return scene_new_with(options);
}

void scene_forget(struct scene *s) { s->coordinator = NULL; }

void scene_free(struct scene *s) {
    if (boxcar_coordinator_close(s->coordinator, &s->err) != BOXCAR_OK)
        fail_msg("close: %s", s->err.message);
    boxcar_coordinator_free(s->coordinator);
    assert_int_equal(s->memory.defects, 0);
    assert_int_equal(s->memory.closed, 1);
    assert_true(s->memory.most_inside <= 1);
    memory_release(&s->memory);
    pthread_cond_destroy(&s->told);
    pthread_mutex_destroy(&s->mutex);
    free(s);
    alarm(0);
}

void scene_await_results(struct scene *s, size_t count) {
    pthread_mutex_lock(&s->mutex);
    while (s->results < count)
        pthread_cond_wait(&s->told, &s->mutex);
    pthread_mutex_unlock(&s->mutex);
}

boxcar_new_message a_message(const char *payload) {
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;

    message.topic = BOXCAR_STR("t");
    message.payload = boxcar_str_of(payload);
    return message;
}

uint64_t put(struct scene *s, const char *payload) {
    boxcar_new_message message = a_message(payload);
    uint64_t ticket = 0;

    if (boxcar_coordinator_enqueue(s->coordinator, BOXCAR_OUTBOX, &message, 1, &ticket, &s->err) != BOXCAR_OK)
        fail_msg("enqueue: %s", s->err.message);
    return ticket;
}

uint64_t put_numbered(struct scene *s, int number) {
    char payload[16];

    snprintf(payload, sizeof(payload), "%d", number);
    return put(s, payload);
}

boxcar_settlement a_settlement(int64_t work_id) {
    boxcar_settlement settlement = BOXCAR_SETTLEMENT_INIT;

    settlement.work_id.value = work_id;
    return settlement;
}

uint64_t ack(struct scene *s, int64_t work_id) {
    boxcar_settlement settlement = a_settlement(work_id);
    uint64_t ticket = 0;

    if (boxcar_coordinator_settle(s->coordinator, BOXCAR_OUTBOX, BOXCAR_ACK, &settlement, 1, 0, &ticket,
                                  &s->err) != BOXCAR_OK)
        fail_msg("ack: %s", s->err.message);
    return ticket;
}

boxcar_flush *flush(struct scene *s) {
    boxcar_flush *flushed = NULL;

    if (boxcar_coordinator_flush(s->coordinator, NULL, &flushed, &s->err) != BOXCAR_OK)
        fail_msg("flush: %s", s->err.message);
    return flushed;
}

void flush_ok(struct scene *s) { boxcar_flush_free(flush(s)); }

void flush_fails(struct scene *s, boxcar_status wanted) {
    s->err = BOXCAR_ERROR_INIT;
    assert_int_equal(boxcar_coordinator_flush(s->coordinator, NULL, NULL, &s->err), wanted);
    assert_int_equal(s->err.status, wanted);
}

void assert_in_order(struct scene *s, int count) {
    char payload[16];

    assert_int_equal(s->memory.count, count);
    for (int i = 0; i < count; i++) {
        snprintf(payload, sizeof(payload), "%d", i);
        assert_string_equal(s->memory.messages[i].text, payload);
    }
}
