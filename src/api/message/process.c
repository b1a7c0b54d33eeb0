/* A batch from outside: checked as a whole, then handed to the store in its own form. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/check.h"
#include "api/inbox/messages.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "batch_faults.h"
#include "batching.h"
#include "core/limits.h"
#include "store/inbox_log.h"
#include "store/join_log.h"
#include "store/message_log.h"

struct boxcar_batch_result {
    struct batch_result result;
    size_t message_count, inbox_message_count;
    boxcar_message_list claimed[BOXES]; /* their memory is the result's */
};

/* ---- checking ---- */

/* The message says the first fault, and how many there are beside it. */
static boxcar_status refuse(size_t count, const boxcar_error *first, boxcar_error *err) {
    if (count == 1) {
        if (err)
            *err = *first;
        return BOXCAR_E_INVALID;
    }
    return error_invalid(err, first->argument,
                         "%s (the first of %zu faults, boxcar_batch_faults() lists them; nothing was done)",
                         first->message, count);
}

static boxcar_status check_batch(const boxcar_batch *given, struct whole_batch *ret_whole, boxcar_error *err) {
    boxcar_error first = BOXCAR_ERROR_INIT;
    size_t count = 0;
    boxcar_status status = batch_faults_find(given, ret_whole, NULL, NULL, &count, &first);

    if (status != BOXCAR_OK)
        return error_no_memory(err);
    return count == 0 ? BOXCAR_OK : refuse(count, &first, err);
}

/* ---- the store's form ---- */

static boxcar_status fill_part(struct arena *arena, const boxcar_batch_part *from, struct batch_part *into,
                               boxcar_error *err) {
    const struct {
        boxcar_settle_kind kind;
        struct settlement_list list;
    } lists[] = {{BOXCAR_RECORD, {from->stages, from->stage_count}},
                 {BOXCAR_ACK, {from->acks, from->ack_count}},
                 {BOXCAR_ABANDON, {from->abandons, from->abandon_count}},
                 {BOXCAR_DEFER, {from->defers, from->defer_count}},
                 {BOXCAR_FAIL, {from->fails, from->fail_count}},
                 {BOXCAR_RENEW, {from->renews, from->renew_count}}};
    boxcar_status status = BOXCAR_OK;

    for (size_t i = 0; status == BOXCAR_OK && i < sizeof(lists) / sizeof(lists[0]); i++)
        status = batching_add_settlements(arena, lists[i].kind, lists[i].list, into, err);
    into->renew_lease_ms = from->lease_ms;
    into->claim_lease_ms = from->lease_ms;
    into->claim_size = from->claim_size;
    into->claim_bytes = from->claim_bytes;
    into->topics = from->topics;
    into->topic_count = from->topic_count;
    return status;
}

/* Only a claim, and a list of topics, say what an instance handles. */
static void fill_topics(const boxcar_batch_part *part, struct instance *instance) {
    bool is_every = part->claim_size > 0 && part->topic_count == 0;

    instance->topics = is_every ? &EVERY_TOPIC : part->topic_count > 0 ? part->topics : NULL;
    instance->topic_count = is_every ? 1 : part->topic_count;
}

static size_t fill_instances(const struct whole_batch *whole, struct instance ret_instances[BOXES]) {
    struct instance instance = {
        .owner = whole->batch.owner,
        .host = str_is_absent(whole->heartbeat.host) ? BOXCAR_STR("") : whole->heartbeat.host,
        .pid = whole->heartbeat.pid,
        .concurrency = whole->heartbeat.concurrency,
        .no_box = !whole->given[BOXCAR_OUTBOX] && !whole->given[BOXCAR_INBOX]};
    size_t count = 0;

    if (!whole->batch.heartbeat)
        return 0;
    if (instance.no_box)
        ret_instances[count++] = instance;
    for (int box = 0; box < BOXES; box++) {
        if (!whole->given[box])
            continue;
        instance.box = (boxcar_box)box;
        fill_topics(&whole->parts[box], &instance);
        ret_instances[count++] = instance;
    }
    return count;
}

static boxcar_status fill_batch(struct arena *arena, const struct whole_batch *whole, struct batch *batch,
                                struct instance instances[BOXES], boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    batch->owner = whole->batch.owner;
    batch->sent_before = whole->batch.sent_before;
    batch->instances = instances;
    batch->instance_count = fill_instances(whole, instances);
    batch->remove_stale = whole->batch.heartbeat || whole->batch.stale_threshold_ms > 0;
    batch->stale_ms = whole->batch.stale_threshold_ms;
    for (int box = 0; status == BOXCAR_OK && box < BOXES; box++)
        status = fill_part(arena, &whole->parts[box], &batch->parts[box], err);
    if (status == BOXCAR_OK && whole->batch.message_count > 0)
        status = batching_add_messages(arena, whole->batch.messages, whole->batch.message_count,
                                       &batch->parts[BOXCAR_OUTBOX], err);
    if (status == BOXCAR_OK && whole->batch.inbox_message_count > 0)
        status = inbox_messages_add(arena, whole->batch.inbox_messages, whole->batch.inbox_message_count,
                                    &batch->parts[BOXCAR_INBOX], err);
    return status;
}

/* ---- the call ---- */

static void log_processed(boxcar_store *store, const struct batch *batch,
                          const struct batch_result *result) {
    size_t settled = 0, claimed = 0;

    message_log_enqueued(store, &batch->parts[BOXCAR_OUTBOX], &result->parts[BOXCAR_OUTBOX]);
    inbox_log_enqueued(store, &batch->parts[BOXCAR_INBOX], &result->parts[BOXCAR_INBOX]);
    join_log_ended(store, result->ended, result->ended_count);
    if (!store_logs(store, BOXCAR_LOG_DEBUG))
        return;
    for (int box = 0; box < BOXES; box++) {
        claimed += result->parts[box].claimed_count;
        for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
            settled += result->parts[box].settled[kind].count;
    }
    store_log(store, BOXCAR_LOG_DEBUG, "process", NULL, 0, "process: %zu messages, %zu settled, %zu claimed",
              batch->parts[BOXCAR_OUTBOX].message_count + batch->parts[BOXCAR_INBOX].message_count, settled,
              claimed);
}

static boxcar_status process(boxcar_store *store, const struct whole_batch *whole,
                             struct boxcar_batch_result *into, boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    struct batch batch = {.sent_before = false};
    struct instance instances[BOXES];
    boxcar_status status = fill_batch(&arena, whole, &batch, instances, err);

    if (status == BOXCAR_OK)
        status = store->ops->process(store, &batch, &into->result, err);
    if (status != BOXCAR_OK)
        return status;
    into->message_count = whole->batch.message_count;
    into->inbox_message_count = whole->batch.inbox_message_count;
    for (int box = 0; box < BOXES; box++)
        into->claimed[box] = batch_result_lend(&into->result, box);
    log_processed(store, &batch, &into->result);
    return BOXCAR_OK;
}

boxcar_status boxcar_process(boxcar_store *store, const boxcar_batch *given, boxcar_batch_result **ret_result,
                             boxcar_error *err) {
    boxcar_status status = check_given(store, "store", err);
    struct boxcar_batch_result *result;
    struct whole_batch whole;

    if (status == BOXCAR_OK)
        status = check_given(given, "batch", err);
    if (status == BOXCAR_OK)
        status = check_given(ret_result, "ret_result", err);
    if (status == BOXCAR_OK)
        status = check_batch(given, &whole, err);
    if (status != BOXCAR_OK)
        return status;
    result = calloc(1, sizeof(*result));
    if (!result)
        return error_no_memory(err);
    result->result.arena = ARENA_INIT;
    status = process(store, &whole, result, err);
    if (status != BOXCAR_OK) {
        free(result);
        return status;
    }
    *ret_result = result;
    return BOXCAR_OK;
}

/* ---- the answer ---- */

static bool is_box(boxcar_box box) { return box == BOXCAR_OUTBOX || box == BOXCAR_INBOX; }

const boxcar_enqueued *boxcar_batch_result_enqueued(const boxcar_batch_result *result, size_t i) {
    if (!result || i >= result->message_count)
        return NULL;
    return &result->result.parts[BOXCAR_OUTBOX].enqueued[i];
}

const boxcar_inbox_enqueued *boxcar_batch_result_inbox_enqueued(const boxcar_batch_result *result, size_t i) {
    if (!result || i >= result->inbox_message_count)
        return NULL;
    return &result->result.parts[BOXCAR_INBOX].inbox_enqueued[i];
}

const boxcar_work_id *boxcar_batch_result_affected(const boxcar_batch_result *result, boxcar_box box,
                                                   boxcar_settle_kind kind, size_t *ret_count) {
    const struct work_id_list *affected = NULL;

    if (result && is_box(box) && (unsigned)kind < BOXCAR_SETTLE_KINDS)
        affected = &result->result.parts[box].settled[kind];
    if (ret_count)
        *ret_count = affected ? affected->count : 0;
    return affected ? affected->items : NULL;
}

const boxcar_message_list *boxcar_batch_result_claimed(const boxcar_batch_result *result, boxcar_box box) {
    static const boxcar_message_list nothing = {.items = NULL};

    return result && is_box(box) ? &result->claimed[box] : &nothing;
}

void boxcar_batch_result_free(boxcar_batch_result *result) {
    if (!result)
        return;
    batch_result_release(&result->result);
    free(result);
}
