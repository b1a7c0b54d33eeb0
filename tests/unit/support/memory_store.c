#include "memory_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/topic.h"

static struct memory_store *current;

static bool text_is(boxcar_str text, const char *wanted) {
    return wanted && text.len == strlen(wanted) && memcmp(text.data, wanted, text.len) == 0;
}

static void keep_text(char *ret_text, size_t size, boxcar_str text) {
    snprintf(ret_text, size, "%.*s", (int)text.len, text.data ? text.data : "");
}

/* ---- new messages ---- */

size_t memory_find(const struct memory_store *memory, boxcar_message_id id) {
    size_t i = 0;

    while (i < memory->count && memcmp(&memory->messages[i].id, &id, sizeof(id)) != 0)
        i++;
    return i;
}

static void keep(struct memory_store *memory, int box, const boxcar_new_message *new) {
    struct memory_message *message = &memory->messages[memory->count++];

    if (memory->count > MEMORY_IDS)
        abort();
    message->id = new->message_id;
    message->box = (boxcar_box)box;
    keep_text(message->text, sizeof(message->text), new->payload);
    keep_text(message->source, sizeof(message->source), new->source);
    message->payload = boxcar_str_of(message->text);
}

static boxcar_enqueued enqueue(struct memory_store *memory, const struct request *batch, int box,
                               const boxcar_new_message *message) {
    size_t at = memory_find(memory, message->message_id);
    bool known = at < memory->count;
    bool fresh = batch->own[box].fresh_ids && !batch->base.sent_before;

    memory->defects += (known && fresh) || boxcar_uuid_is_none(message->message_id.uuid);
    if (!known)
        keep(memory, box, message);
    return (boxcar_enqueued){.work_id = {(int64_t)at + 1},
                             .message_id = message->message_id,
                             .duplicate = known && !batch->own[box].fresh_ids,
                             .hash_mismatch = text_is(message->payload, memory->other_hash)};
}

static void enqueue_all(struct memory_store *memory, const struct request *batch, int box,
                        struct result *result) {
    boxcar_new_message_list messages = batch->base.messages[box];

    for (size_t i = 0; i < messages.count; i++)
        result->parts[box].enqueued[i] = enqueue(memory, batch, box, &messages.items[i]);
}

/* ---- settling ---- */

static bool is_leased(const struct memory_store *memory, const struct memory_message *message) {
    return message->leased || (memory->all_leased && message->settled == 0);
}

static bool renew(const struct memory_store *memory, struct memory_message *message, int64_t work_id) {
    message->renewed++;
    if (work_id == memory->steal) {
        message->leased = false;
        message->settled += memory->thief_settles;
    }
    return is_leased(memory, message);
}

/* Whether a settlement takes effect, and what of it. */
static bool settle(struct memory_store *memory, const struct request *batch, int box, boxcar_settle_kind kind,
                   const boxcar_settlement *item) {
    int64_t work_id = item->work_id.value;
    struct memory_message *message =
        work_id > 0 && work_id < MEMORY_IDS ? &memory->messages[work_id - 1] : NULL;

    if (!message || (!memory->all_leased && (int)message->box != box))
        return false;
    if (kind == BOXCAR_RENEW)
        return renew(memory, message, work_id);
    if (kind == BOXCAR_RECORD) {
        message->stages |= is_leased(memory, message) ? item->stages : 0;
        message->recorded_in = memory->call_count;
        return is_leased(memory, message);
    }
    if (work_id == memory->lose) {
        message->leased = false;
        message->settled++;
        return false;
    }
    if (!is_leased(memory, message))
        return batch->base.sent_before && message->settled > 0 && message->kind == kind;
    message->leased = false;
    message->settled++;
    message->settled_in = memory->call_count;
    message->kind = kind;
    message->delay_ms = item->delay_ms;
    message->reason = kind == BOXCAR_FAIL ? batch->own[box].fail_reason : BOXCAR_REASON_NONE;
    keep_text(message->error, sizeof(message->error), item->error);
    return true;
}

static void resolve(struct memory_store *memory, const struct request *batch, int box,
                    struct result *result) {
    boxcar_settlement_list list = batch->parts[box].settle[BOXCAR_RESOLVE];

    for (size_t i = 0; i < list.count; i++) {
        bool leased = memory->messages[list.items[i].work_id.value - 1].leased;

        (void)settle(memory, batch, box, BOXCAR_RESOLVE, &list.items[i]);
        result->parts[box].waits[i] = leased ? memory->wait_outcome : WAIT_LOST;
    }
}

static void settle_all(struct memory_store *memory, const struct request *batch, int box,
                       struct result *result) {
    resolve(memory, batch, box, result);
    for (int i = 0; i < BOXCAR_SETTLE_KINDS; i++) {
        boxcar_settle_kind kind = settle_kind_at(i);
        boxcar_settlement_list given = batch->parts[box].settle[kind];
        struct work_id_list *list = &result->parts[box].settled[kind];

        if (kind == BOXCAR_RESOLVE)
            continue;
        for (size_t k = given.count; k-- > 0;) /* in no useful order */
            if (settle(memory, batch, box, kind, &given.items[k]))
                list->items[list->count++] = given.items[k].work_id;
    }
}

static void apply(struct memory_store *memory, const struct request *batch, struct result *result) {
    for (int box = 0; box < BOXES; box++)
        enqueue_all(memory, batch, box, result);
    for (int box = 0; box < BOXES; box++)
        settle_all(memory, batch, box, result);
}

/* ---- claiming ---- */

static bool wants(const struct memory_store *memory, const boxcar_request_part *part, boxcar_str topic) {
    return memory->ignore_topics ||
           topic_best_match(part->topics, part->topic_count, sizeof(boxcar_str), topic) >= 0;
}

static boxcar_message lease(const struct request *batch, struct memory_message *message, size_t i) {
    message->leased = true;
    return (boxcar_message){.work_id = {(int64_t)i + 1},
                            .box = message->box,
                            .epoch = {message->epoch ? message->epoch : 1},
                            .owner = batch->base.owner,
                            .topic = message->topic,
                            .stream = message->stream,
                            .payload = message->payload,
                            .crash_count = message->crash_count,
                            .retry_count = message->crash_count};
}

static void turn_around(boxcar_message *items, size_t count) {
    for (size_t i = 0; i < count / 2; i++) {
        boxcar_message swapped = items[i];

        items[i] = items[count - 1 - i];
        items[count - 1 - i] = swapped;
    }
}

static void claim(struct memory_store *memory, const struct request *batch, int box, struct result *result) {
    const boxcar_request_part *part = &batch->parts[box];
    struct part_result *got = &result->parts[box];
    bool is_suspect = false;

    for (size_t i = 0; i < memory->count && got->claimed_count < (size_t)part->claim_size && !is_suspect;
         i++) {
        struct memory_message *message = &memory->messages[i];

        if ((int)message->box != box || message->leased || message->settled > 0 ||
            !wants(memory, part, message->topic))
            continue;
        if (message->crash_count > 0 && (got->claimed_count > 0 || batch->own[box].no_suspects))
            continue;
        got->claimed[got->claimed_count++] = lease(batch, message, i);
        is_suspect = message->crash_count > 0;
    }
    if (memory->backwards)
        turn_around(got->claimed, got->claimed_count);
}

static void count_suspects(struct memory_store *memory) {
    int count = 0;

    for (size_t i = 0; i < memory->count; i++)
        count += memory->messages[i].leased && memory->messages[i].crash_count > 0;
    if (count > memory->most_suspects)
        memory->most_suspects = count;
}

/* ---- answering ---- */

/* Before anything is done: a store that has no memory has done nothing. */
static bool make_room(const struct memory_store *memory, const struct request *batch, struct result *result) {
    bool ok = true;

    for (int box = 0; box < BOXES; box++) {
        struct part_result *part = &result->parts[box];
        const boxcar_settlement_list *given = batch->parts[box].settle;
        size_t messages = batch->base.messages[box].count;
        size_t claimed = batch->parts[box].claim_size > 0 ? memory->count + messages : 0;

        part->enqueued = arena_alloc_array(&result->arena, messages, sizeof(*part->enqueued));
        part->claimed = arena_alloc_array(&result->arena, claimed, sizeof(*part->claimed));
        part->waits = arena_alloc_array(&result->arena, given[BOXCAR_RESOLVE].count, sizeof(*part->waits));
        ok = ok && part->enqueued && part->claimed && part->waits;
        for (int kind = 0; ok && kind < BOXCAR_SETTLE_KINDS; kind++) {
            part->settled[kind].items =
                arena_alloc_array(&result->arena, given[kind].count, sizeof(boxcar_work_id));
            ok = part->settled[kind].items != NULL;
        }
    }
    return ok;
}

static bool has_message(boxcar_new_message_list messages, const char *payload) {
    for (size_t i = 0; i < messages.count; i++)
        if (text_is(messages.items[i].payload, payload))
            return true;
    return false;
}

static bool is_refused(const struct memory_store *memory, const struct request *batch, boxcar_box box) {
    for (int kind = BOXCAR_ACK; kind < BOXCAR_RENEW; kind++)
        for (size_t i = 0; i < batch->parts[box].settle[kind].count; i++)
            if (memory->refuse_work_id > 0 &&
                batch->parts[box].settle[kind].items[i].work_id.value == memory->refuse_work_id)
                return true;
    return has_message(batch->base.messages[box], memory->refuse);
}

/* The script wants this one to fail. */
static bool takes_failure(struct memory_store *memory, const struct memory_call *call) {
    if ((long)memory->call_count == memory->fail_at)
        return true;
    if (call->settlements == 0 || memory->fail_next == 0)
        return false;
    memory->fail_next--;
    return true;
}

/* 0, or a reader that is not there. */
static boxcar_box unknown_reader(const struct memory_store *memory, const struct request *batch) {
    for (int box = 0; box < BOXES; box++)
        if (batch->parts[box].reader > 0 && batch->parts[box].reader != memory->subscription.reader)
            return batch->parts[box].reader;
    for (size_t i = 0; i < batch->instance_count; i++)
        if (batch->instances[i].box > BOXCAR_INBOX && batch->instances[i].box != memory->subscription.reader)
            return batch->instances[i].box;
    return 0;
}

static boxcar_status answer(struct memory_store *memory, const struct request *batch,
                            const struct memory_call *call, struct result *result, boxcar_error *err) {
    bool fails = (long)memory->call_count == memory->fail_at;
    bool refused = is_refused(memory, batch, BOXCAR_OUTBOX) || is_refused(memory, batch, BOXCAR_INBOX);

    if (memory->down != BOXCAR_OK)
        return error_set(err, memory->down, "the store is down");
    if (unknown_reader(memory, batch) > 0)
        return store_refuse_reader(unknown_reader(memory, batch), err);
    if (call->instances > 0 && memory->deny_instances != BOXCAR_OK)
        return error_set(err, memory->deny_instances, "not registered");
    if (has_message(batch->base.messages[BOXCAR_OUTBOX], memory->orphan) && !fails)
        return error_set(err, BOXCAR_E_NOT_FOUND, "there is no such join");
    if (refused && !fails)
        return error_set(err, memory->refusal, "refused by the store");
    fails = takes_failure(memory, call);
    if (!make_room(memory, batch, result))
        return error_no_memory(err);
    if (!refused && (!fails || memory->apply_then_fail))
        apply(memory, batch, result);
    if (fails) {
        error_set(err, memory->failure, "the store says so");
        err->outcome_unknown = memory->apply_then_fail;
        return memory->failure;
    }
    for (int box = 0; box < BOXES; box++) {
        if (batch->parts[box].claim_size > 0)
            claim(memory, batch, box, result);
        result->parts[box].reaped = batch->parts[box].reap ? memory->reaped : 0;
    }
    result->ended = memory->ended;
    result->ended_count = memory->ended_count;
    count_suspects(memory);
    return BOXCAR_OK;
}

static struct memory_call call_of(const struct request *batch) {
    struct memory_call call = {.instances = batch->instance_count,
                               .sent_before = batch->base.sent_before,
                               .no_suspects = batch->own[BOXCAR_OUTBOX].no_suspects,
                               .topic_count = batch->parts[BOXCAR_OUTBOX].topic_count,
                               .instance_of = batch->instance_count > 0 ? batch->instances[0].box : -1};

    for (int box = 0; box < BOXES; box++) {
        const boxcar_request_part *part = &batch->parts[box];

        call.claim_size += call.claim_of[box] = part->claim_size;
        call.readers[box] = request_reader(batch, box);
        call.messages += batch->base.messages[box].count;
        for (int kind = BOXCAR_ACK; kind < BOXCAR_RENEW; kind++)
            call.settlements += part->settle[kind].count;
        call.renewals += part->settle[BOXCAR_RENEW].count;
    }
    return call;
}

static void remember(struct memory_asked *asked, const struct request *batch) {
    asked->request = *batch;
    for (int box = 0; box < BOXES; box++) {
        boxcar_new_message_list messages = batch->base.messages[box];

        for (size_t i = 0; i < messages.count && i < MEMORY_ROOM; i++)
            asked->messages[i] = messages.items[i];
        for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++) {
            boxcar_settlement_list list = batch->parts[box].settle[kind];

            for (size_t i = 0; i < list.count && i < MEMORY_ROOM; i++)
                asked->settlements[i] = list.items[i];
        }
    }
}

static void pass_gate(struct memory_store *memory) {
    memory->at_gate++;
    pthread_cond_broadcast(&memory->gate);
    while (memory->gate_closed)
        pthread_cond_wait(&memory->gate, &memory->mutex);
    memory->at_gate--;
}

static boxcar_status answer_in_turn(struct memory_store *memory, const struct request *batch,
                                    struct result *ret_result, boxcar_error *err) {
    struct result result = {.arena = ARENA_INIT};
    struct memory_call call = call_of(batch);

    pthread_mutex_lock(&memory->mutex);
    remember(&memory->asked, batch);
    pass_gate(memory);
    call.answer = answer(memory, batch, &call, &result, err);
    if (memory->call_count < MEMORY_CALLS)
        memory->calls[memory->call_count++] = call;
    pthread_mutex_unlock(&memory->mutex);
    if (call.answer != BOXCAR_OK)
        result_release(&result);
    else
        *ret_result = result;
    return call.answer;
}

/* ---- heartbeats ---- */

/* Whether it is only a heartbeat, or only signs an owner off. */
static bool is_presence(const struct request *batch) {
    bool alone = batch->instance_count > 0 && !batch->remove_stale;

    for (int box = 0; box < BOXES; box++)
        alone = alone && !request_changes(batch, (boxcar_box)box) && batch->parts[box].claim_size == 0;
    return alone || batch->farewell;
}

static boxcar_status note_heartbeat(struct memory_store *memory, boxcar_error *err) {
    memory->heartbeats++;
    if (memory->deny_heartbeats != BOXCAR_OK)
        return error_set(err, memory->deny_heartbeats, "not registered");
    if (memory->fail_heartbeats == 0)
        return BOXCAR_OK;
    memory->fail_heartbeats--;
    return error_set(err, BOXCAR_E_UNAVAILABLE, "the store says so");
}

static boxcar_status note_presence(struct memory_store *memory, const struct request *batch,
                                   boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    memory->farewells += batch->farewell;
    for (size_t i = 0; status == BOXCAR_OK && i < batch->instance_count; i++)
        status = note_heartbeat(memory, err);
    return status;
}

boxcar_status memory_process(struct boxcar_store *store, const struct request *batch,
                             struct result *ret_result, boxcar_error *err) {
    struct memory_store *memory = memory_of(store);
    int inside = atomic_fetch_add(&memory->inside, 1) + 1;
    boxcar_status status;

    memory->asked.calls++;
    if (inside > atomic_load(&memory->most_inside))
        atomic_store(&memory->most_inside, inside);
    status = is_presence(batch) ? note_presence(memory, batch, err)
                                : answer_in_turn(memory, batch, ret_result, err);
    atomic_fetch_sub(&memory->inside, 1);
    return status;
}

static void keep_record(void *context, const boxcar_log_record *record) {
    struct memory_store *memory = context;
    struct memory_record kept = {.level = record->level};
    size_t used = 0;

    snprintf(kept.event, sizeof(kept.event), "%s", record->event);
    snprintf(kept.text, sizeof(kept.text), "%s", record->text);
    snprintf(kept.store_id, sizeof(kept.store_id), "%s", record->store_id);
    for (size_t i = 0; i < record->field_count && used < sizeof(kept.fields); i++) {
        boxcar_str value = record->fields[i].value;

        used += (size_t)snprintf(kept.fields + used, sizeof(kept.fields) - used, "%s=%.*s ",
                                 record->fields[i].name, (int)value.len, value.data ? value.data : "");
    }
    pthread_mutex_lock(&memory->mutex);
    memory->last = kept;
    if (memory->log_count < MEMORY_ROOM)
        memory->log[memory->log_count] = kept;
    memory->log_count++;
    pthread_mutex_unlock(&memory->mutex);
}

/* ---- for tests ---- */

void memory_init(struct memory_store *memory) {
    static char id[] = "memory";

    memset(memory, 0, sizeof(*memory));
    pthread_mutex_init(&memory->mutex, NULL);
    pthread_cond_init(&memory->gate, NULL);
    memory->store.ops = &MEMORY_OPS;
    memory->store.id = id;
    memory->store.log = keep_record;
    memory->store.log_context = memory;
    memory->fail_at = -1;
    memory->refusal = BOXCAR_E_STORE;
    current = memory;
}

void memory_release(struct memory_store *memory) {
    pthread_cond_destroy(&memory->gate);
    pthread_mutex_destroy(&memory->mutex);
}

void memory_add(struct memory_store *memory, const char *topic, int crash_count) {
    memory->messages[memory->count++] = (struct memory_message){
        .topic = boxcar_str_of(topic), .payload = BOXCAR_STR("x"), .crash_count = crash_count};
}

void memory_await_gate(struct memory_store *memory) {
    pthread_mutex_lock(&memory->mutex);
    while (memory->at_gate == 0)
        pthread_cond_wait(&memory->gate, &memory->mutex);
    pthread_mutex_unlock(&memory->mutex);
}

void memory_open_gate(struct memory_store *memory) {
    pthread_mutex_lock(&memory->mutex);
    memory->gate_closed = false;
    pthread_cond_broadcast(&memory->gate);
    pthread_mutex_unlock(&memory->mutex);
}

boxcar_status memory_open(const boxcar_store_options *options, struct boxcar_store **ret_store,
                          boxcar_error *err) {
    (void)err;
    current->store.log = options->log;
    current->store.log_context = options->log_context;
    current->store.log_level = BOXCAR_LOG_DEBUG;
    *ret_store = &current->store;
    return BOXCAR_OK;
}
