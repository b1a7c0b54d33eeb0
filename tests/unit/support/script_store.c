#include "script_store.h"

#include <poll.h>
#include <string.h>

#include "base/error.h"
#include "core/topic.h"

static struct script_store *current;

static struct script_store *script_of(struct boxcar_store *store) { return (struct script_store *)store; }

static bool refuses(const struct script_store *script, const boxcar_request_part *part) {
    for (int kind = BOXCAR_ACK; kind < BOXCAR_RENEW; kind++)
        for (size_t i = 0; i < part->settle[kind].count; i++)
            if (part->settle[kind].items[i].work_id.value == script->refuse)
                return true;
    return false;
}

/* Whether a settlement takes effect, and what of it. */
static bool apply(struct script_store *script, const struct request *batch, int box, boxcar_settle_kind kind,
                  const boxcar_settlement *item) {
    struct script_message *message = &script->messages[item->work_id.value - 1];

    if ((int)message->box != box)
        return false;
    if (kind == BOXCAR_RECORD) {
        message->stages |= item->stages;
        message->recorded_in = script->call_count;
        return message->leased;
    }
    if (kind == BOXCAR_RENEW) {
        message->renewed++;
        if (item->work_id.value == script->steal) {
            message->leased = false;
            message->settled += script->thief_settles;
        }
        return message->leased;
    }
    if (item->work_id.value == script->lose) {
        message->leased = false;
        message->settled++;
        return false;
    }
    if (!message->leased)
        return batch->base.sent_before && message->settled > 0 && message->kind == kind;
    message->leased = false;
    message->settled++;
    message->settled_in = script->call_count;
    message->kind = kind;
    message->delay_ms = item->delay_ms;
    message->reason = kind == BOXCAR_FAIL ? batch->own[box].fail_reason : BOXCAR_REASON_NONE;
    return true;
}

static void resolve(struct script_store *script, const struct request *batch, int box,
                    struct result *result) {
    const boxcar_settlement_list *list = &batch->parts[box].settle[BOXCAR_RESOLVE];
    enum wait_outcome *outcomes = arena_alloc_array(&result->arena, list->count, sizeof(*outcomes));

    for (size_t i = 0; i < list->count; i++) {
        bool leased = script->messages[list->items[i].work_id.value - 1].leased;

        (void)apply(script, batch, box, BOXCAR_RESOLVE, &list->items[i]);
        outcomes[i] = leased ? script->wait_outcome : WAIT_LOST;
    }
    result->parts[box].waits = outcomes;
}

static void settle_part(struct script_store *script, const struct request *batch, int box,
                        struct result *result) {
    resolve(script, batch, box, result);
    for (int i = 0; i < BOXCAR_SETTLE_KINDS; i++) {
        boxcar_settle_kind kind = settle_kind_at(i);
        boxcar_settlement_list said = batch->parts[box].settle[kind];
        struct work_id_list *list = &result->parts[box].settled[kind];

        if (kind == BOXCAR_RESOLVE)
            continue;
        list->items = arena_alloc_array(&result->arena, said.count, sizeof(*list->items));
        for (size_t k = 0; k < said.count; k++)
            if (apply(script, batch, box, kind, &said.items[k]))
                list->items[list->count++] = said.items[k].work_id;
    }
}

static void settle(struct script_store *script, const struct request *batch, struct result *result) {
    for (int box = 0; box < BOXES; box++)
        settle_part(script, batch, box, result);
}

static bool wants(const struct script_store *script, const boxcar_request_part *part, boxcar_str topic) {
    return script->ignore_topics ||
           topic_best_match(part->topics, part->topic_count, sizeof(boxcar_str), topic) >= 0;
}

static void claim(struct script_store *script, const struct request *batch, int box,
                  struct result *result) {
    const boxcar_request_part *part = &batch->parts[box];
    struct part_result *got = &result->parts[box];

    got->claimed = arena_alloc_array(&result->arena, SCRIPT_ROOM, sizeof(*got->claimed));
    for (size_t i = 0; i < script->count && got->claimed_count < (size_t)part->claim_size; i++) {
        struct script_message *message = &script->messages[i];

        if ((int)message->box != box || message->leased || message->settled > 0 ||
            !wants(script, part, message->topic))
            continue;
        if (message->crash_count > 0 && (got->claimed_count > 0 || batch->own[box].no_suspects))
            continue;
        message->leased = true;
        got->claimed[got->claimed_count++] = (boxcar_message){.work_id = {(int64_t)i + 1},
                                                              .box = message->box,
                                                              .epoch = {message->epoch ? message->epoch : 1},
                                                              .owner = batch->base.owner,
                                                              .topic = message->topic,
                                                              .stream = message->stream,
                                                              .payload = message->payload,
                                                              .crash_count = message->crash_count,
                                                              .retry_count = message->crash_count};
        if (message->crash_count > 0)
            break;
    }
    for (size_t i = 0; script->backwards && i < got->claimed_count / 2; i++) {
        boxcar_message swapped = got->claimed[i];

        got->claimed[i] = got->claimed[got->claimed_count - 1 - i];
        got->claimed[got->claimed_count - 1 - i] = swapped;
    }
}

static void count_suspects(struct script_store *script) {
    int count = 0;

    for (size_t i = 0; i < script->count; i++)
        count += script->messages[i].leased && script->messages[i].crash_count > 0;
    if (count > script->most_suspects)
        script->most_suspects = count;
}

static boxcar_status answer(struct script_store *script, const struct request *batch,
                            struct result *result, const struct script_call *call, boxcar_error *err) {
    bool settles = call->settlements > 0;

    if (script->deny != BOXCAR_OK)
        return error_set(err, script->deny, "denied");
    if (call->instances > 0 && script->deny_instances != BOXCAR_OK)
        return error_set(err, script->deny_instances, "not registered");
    if (settles && script->refuse && (refuses(script, &batch->parts[BOXCAR_OUTBOX]) || refuses(script, &batch->parts[BOXCAR_INBOX])))
        return error_set(err, BOXCAR_E_STORE, "refused");
    if (settles && script->fail_next > 0) {
        script->fail_next--;
        if (script->apply_then_fail)
            settle(script, batch, result);
        error_set(err, script->failure, "the store says so");
        err->outcome_unknown = script->apply_then_fail;
        return script->failure;
    }
    settle(script, batch, result);
    for (int box = 0; box < BOXES; box++)
        if (batch->parts[box].claim_size > 0)
            claim(script, batch, box, result);
    count_suspects(script);
    return BOXCAR_OK;
}

/* That somebody lives or goes, and nothing else. */
static bool is_presence(const struct request *batch) {
    bool alone = batch->instance_count > 0 && !batch->remove_stale;

    for (int box = 0; box < BOXES; box++)
        alone = alone && !request_changes(batch, (boxcar_box)box) && batch->parts[box].claim_size == 0;
    return alone || batch->farewell;
}

static boxcar_status note_heartbeat(struct script_store *script, boxcar_error *err) {
    script->heartbeats++;
    if (script->deny_heartbeats != BOXCAR_OK)
        return error_set(err, script->deny_heartbeats, "not registered");
    if (script->fail_heartbeats == 0)
        return BOXCAR_OK;
    script->fail_heartbeats--;
    return error_set(err, BOXCAR_E_UNAVAILABLE, "the store says so");
}

static boxcar_status note_presence(struct script_store *script, const struct request *batch, boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    script->farewells += batch->farewell;
    for (size_t i = 0; status == BOXCAR_OK && i < batch->instance_count; i++)
        status = note_heartbeat(script, err);
    return status;
}

static boxcar_status process(struct boxcar_store *store, const struct request *batch,
                             struct result *ret_result, boxcar_error *err) {
    struct script_store *script = script_of(store);
    struct result result = {.arena = ARENA_INIT};
    struct script_call call = {.instances = batch->instance_count,
                               .sent_before = batch->base.sent_before,
                               .no_suspects = batch->own[BOXCAR_OUTBOX].no_suspects};

    if (is_presence(batch))
        return note_presence(script, batch, err);
    for (int box = 0; box < BOXES; box++) {
        const boxcar_request_part *part = &batch->parts[box];

        call.claim_size += call.claim_of[box] = part->claim_size;
        for (int kind = BOXCAR_ACK; kind < BOXCAR_RENEW; kind++)
            call.settlements += part->settle[kind].count;
        call.renewals += part->settle[BOXCAR_RENEW].count;
    }
    pthread_mutex_lock(&script->mutex);
    call.answer = answer(script, batch, &result, &call, err);
    if (script->call_count < SCRIPT_CALLS)
        script->calls[script->call_count++] = call;
    pthread_mutex_unlock(&script->mutex);
    if (call.answer != BOXCAR_OK)
        result_release(&result);
    else
        *ret_result = result;
    return call.answer;
}

static void sleep_a_little(struct boxcar_store *store, const struct nap *nap) {
    struct pollfd wake = {.fd = nap->wake_fd, .events = POLLIN};

    (void)store;
    (void)poll(&wake, 1, (int)nap->longest_ms);
}

static boxcar_status is_drained(struct boxcar_store *store, boxcar_box box, const boxcar_str *topics,
                                size_t topic_count, boxcar_str wait_topic, int64_t horizon_ms,
                                bool *ret_drained, boxcar_error *err) {
    struct script_store *script = script_of(store);
    bool drained = true;

    (void)box;
    (void)topics;
    (void)topic_count;
    (void)wait_topic;
    (void)horizon_ms;
    (void)err;
    for (size_t i = 0; i < script->count; i++)
        drained = drained && script->messages[i].settled > 0;
    *ret_drained = drained;
    return BOXCAR_OK;
}

static boxcar_status settings_read(struct boxcar_store *store, struct setting_value_list *ret_list,
                                   boxcar_error *err) {
    (void)store;
    (void)err;
    *ret_list = (struct setting_value_list){.arena = ARENA_INIT};
    return BOXCAR_OK;
}

static boxcar_status evaluate_waits(struct boxcar_store *store, enum upkeep_task task, struct upkeep_done *ret_done,
                                    boxcar_error *err) {
    struct script_store *script = script_of(store);

    (void)task;
    (void)err;
    ret_done->waits = script->waits_due;
    script->waits_due = 0;
    script->wait_looks++;
    return BOXCAR_OK;
}

static void close_store(struct boxcar_store *store) { (void)store; }

static const struct store_ops OPS = {
    .kind = "script",
    .close = close_store,
    .process = process,
    .sleep = sleep_a_little,
    .is_drained = is_drained,
    .settings_read = settings_read,
    .maintain = evaluate_waits,
};

void script_init(struct script_store *script) {
    static char id[] = "script";

    memset(script, 0, sizeof(*script));
    pthread_mutex_init(&script->mutex, NULL);
    script->store.ops = &OPS;
    script->store.id = id;
    current = script;
}

void script_add(struct script_store *script, const char *topic, int crash_count) {
    script->messages[script->count++] = (struct script_message){
        .topic = boxcar_str_of(topic), .payload = BOXCAR_STR("x"), .crash_count = crash_count};
}

boxcar_status script_open(const boxcar_store_options *options, struct boxcar_store **ret_store,
                          boxcar_error *err) {
    (void)err;
    current->store.log = options->log;
    current->store.log_context = options->log_context;
    *ret_store = &current->store;
    return BOXCAR_OK;
}
