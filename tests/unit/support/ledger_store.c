#include "ledger_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static struct ledger_store *ledger_of(struct boxcar_store *store) { return (struct ledger_store *)store; }

static bool text_is(boxcar_str text, const char *wanted) {
    return wanted && text.len == strlen(wanted) && memcmp(text.data, wanted, text.len) == 0;
}

static bool has_message(boxcar_new_message_list messages, const char *payload) {
    for (size_t i = 0; i < messages.count; i++)
        if (text_is(messages.items[i].payload, payload))
            return true;
    return false;
}

static bool is_refused(const struct ledger_store *ledger, const struct request *batch, boxcar_box box) {
    const boxcar_request_part *part = &batch->parts[box];

    if (has_message(batch->base.messages[box], ledger->refuse))
        return true;
    for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
        for (size_t i = 0; i < part->settle[kind].count; i++)
            if (part->settle[kind].items[i].work_id.value == ledger->refuse_work_id)
                return true;
    return false;
}

static size_t find(const struct ledger_store *ledger, boxcar_message_id id) {
    size_t i = 0;

    while (i < ledger->count && memcmp(&ledger->entries[i].id, &id, sizeof(id)) != 0)
        i++;
    return i;
}

static void grow(struct ledger_store *ledger) {
    if (ledger->count < ledger->capacity)
        return;
    ledger->capacity = ledger->capacity ? ledger->capacity * 2 : 1024;
    ledger->entries = realloc(ledger->entries, ledger->capacity * sizeof(*ledger->entries));
    if (!ledger->entries)
        abort();
}

static boxcar_enqueued enqueue(struct ledger_store *ledger, const struct request *batch, int box, size_t i) {
    const boxcar_new_message *message = &batch->base.messages[box].items[i];
    size_t at = find(ledger, message->message_id);
    bool known = at < ledger->count;
    bool fresh = batch->own[box].fresh_ids && !batch->base.sent_before;

    ledger->defects += (known && fresh) || boxcar_uuid_is_none(message->message_id.uuid);
    if (!known) {
        struct ledger_entry *entry;

        grow(ledger);
        entry = &ledger->entries[ledger->count++];
        *entry = (struct ledger_entry){.id = message->message_id, .box = (boxcar_box)box};
        snprintf(entry->payload, sizeof(entry->payload), "%.*s", (int)message->payload.len,
                 message->payload.data);
        if (box == BOXCAR_INBOX)
            snprintf(entry->source, sizeof(entry->source), "%.*s", (int)message->source.len, message->source.data);
    }
    return (boxcar_enqueued){.work_id = {(int64_t)at + 1},
                             .message_id = message->message_id,
                             .duplicate = known && !batch->own[box].fresh_ids,
                             .hash_mismatch = text_is(message->payload, ledger->other_hash)};
}

static bool settle(struct ledger_store *ledger, const struct request *batch, boxcar_settle_kind kind,
                   const boxcar_settlement *item) {
    int64_t i = item->work_id.value;

    if (i >= LEDGER_IDS)
        return false; /* not leased to anybody */
    if (ledger->settled[i] > 0)
        return batch->base.sent_before && ledger->kinds[i] == kind;
    if (kind == BOXCAR_RECORD) {
        ledger->stages[i] |= item->stages;
        return true;
    }
    ledger->renewed[i] += kind == BOXCAR_RENEW;
    ledger->settled[i] += kind != BOXCAR_RENEW;
    ledger->kinds[i] = kind;
    ledger->delays[i] = item->delay_ms;
    snprintf(ledger->errors[i], sizeof(ledger->errors[i]), "%.*s", (int)item->error.len,
             item->error.data ? item->error.data : "");
    return true;
}

/* A content hash is wrong if the script says so. */
static void enqueue_all(struct ledger_store *ledger, const struct request *batch, int box, struct result *result) {
    size_t count = batch->base.messages[box].count;
    struct part_result *answer = &result->parts[box];

    answer->enqueued = arena_alloc_array(&result->arena, count, sizeof(*answer->enqueued));
    for (size_t i = 0; i < count; i++)
        answer->enqueued[i] = enqueue(ledger, batch, box, i);
}

static void apply(struct ledger_store *ledger, const struct request *batch, struct result *result) {
    for (int box = 0; box < BOXES; box++)
        enqueue_all(ledger, batch, box, result);
    for (int box = 0; box < BOXES; box++)
        for (int k = 0; k < BOXCAR_SETTLE_KINDS; k++) {
            boxcar_settle_kind kind = settle_kind_at(k);
            boxcar_settlement_list said = batch->parts[box].settle[kind];
            struct work_id_list *list = &result->parts[box].settled[kind];

            list->items = arena_alloc_array(&result->arena, said.count, sizeof(*list->items));
            for (size_t i = said.count; i-- > 0;) /* in no useful order */
                if (settle(ledger, batch, kind, &said.items[i]))
                    list->items[list->count++] = said.items[i].work_id;
        }
}

static void claim(struct ledger_store *ledger, const struct request *batch, struct result *result) {
    for (int box = 0; box < BOXES; box++) {
        struct part_result *answer = &result->parts[box];
        size_t count = (size_t)batch->parts[box].claim_size;

        if (count == 0)
            continue;
        answer->claimed_count = count < ledger->claimable ? count : ledger->claimable;
        answer->claimed = arena_alloc_array(&result->arena, answer->claimed_count, sizeof(*answer->claimed));
        for (size_t i = 0; i < answer->claimed_count; i++)
            answer->claimed[i] = (boxcar_message){
                .work_id = {(int64_t)i + 1}, .box = (boxcar_box)box, .owner = batch->base.owner, .epoch = {7}};
    }
}

static boxcar_status answer(struct ledger_store *ledger, const struct request *batch,
                            struct result *result, boxcar_error *err) {
    bool fails = (long)ledger->call_count == ledger->fail_at;
    bool refused =
        is_refused(ledger, batch, BOXCAR_OUTBOX) || is_refused(ledger, batch, BOXCAR_INBOX);

    if (ledger->down != BOXCAR_OK)
        return error_set(err, ledger->down, "the store is down");
    if (has_message(batch->base.messages[BOXCAR_OUTBOX], ledger->orphan) && !fails)
        return error_set(err, BOXCAR_E_NOT_FOUND, "there is no such join");
    if (refused && !fails)
        return error_set(err, ledger->refusal, "refused by the store");
    if (!refused && (!fails || ledger->apply_then_fail))
        apply(ledger, batch, result);
    if (fails) {
        error_set(err, ledger->failure, "the store says so");
        err->outcome_unknown = ledger->apply_then_fail;
        return ledger->failure;
    }
    claim(ledger, batch, result);
    return BOXCAR_OK;
}

static struct ledger_call call_of(const struct request *batch) {
    struct ledger_call call = {.sent_before = batch->base.sent_before};

    for (int box = 0; box < BOXES; box++) {
        call.messages += batch->base.messages[box].count;
        for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
            call.settlements += batch->parts[box].settle[kind].count;
        call.renewals += batch->parts[box].settle[BOXCAR_RENEW].count;
        call.settlements -= batch->parts[box].settle[BOXCAR_RENEW].count;
        call.claim_size[box] = batch->parts[box].claim_size;
    }
    return call;
}

static void pass_gate(struct ledger_store *ledger) {
    ledger->at_gate++;
    pthread_cond_broadcast(&ledger->gate);
    while (ledger->gate_closed)
        pthread_cond_wait(&ledger->gate, &ledger->mutex);
    ledger->at_gate--;
}

static void enter(struct ledger_store *ledger) {
    int inside = atomic_fetch_add(&ledger->inside, 1) + 1;

    if (inside > atomic_load(&ledger->most_inside))
        atomic_store(&ledger->most_inside, inside);
}

/* That somebody lives or goes, and nothing else. */
static bool is_presence(const struct request *batch) {
    bool alone = batch->instance_count > 0 && !batch->remove_stale;

    for (int box = 0; box < BOXES; box++)
        alone = alone && !request_changes(batch, (boxcar_box)box) && batch->parts[box].claim_size == 0;
    return alone || batch->farewell;
}

static boxcar_status note_presence(struct ledger_store *ledger, const struct request *batch) {
    enter(ledger);
    atomic_fetch_add(&ledger->heartbeats, (int)batch->instance_count);
    atomic_fetch_add(&ledger->farewells, batch->farewell);
    atomic_fetch_sub(&ledger->inside, 1);
    return BOXCAR_OK;
}

static boxcar_status process(struct boxcar_store *store, const struct request *batch,
                             struct result *ret_result, boxcar_error *err) {
    struct ledger_store *ledger = ledger_of(store);
    struct result result = {.arena = ARENA_INIT};
    struct ledger_call call = call_of(batch);

    if (is_presence(batch))
        return note_presence(ledger, batch);
    enter(ledger);
    pthread_mutex_lock(&ledger->mutex);
    pass_gate(ledger);
    call.answer = answer(ledger, batch, &result, err);
    if (ledger->call_count < LEDGER_CALLS)
        ledger->calls[ledger->call_count++] = call;
    pthread_mutex_unlock(&ledger->mutex);
    atomic_fetch_sub(&ledger->inside, 1);
    if (call.answer != BOXCAR_OK)
        result_release(&result);
    else
        *ret_result = result;
    return call.answer;
}

static void close_store(struct boxcar_store *store) { atomic_fetch_add(&ledger_of(store)->closed, 1); }

static boxcar_status settings_read(struct boxcar_store *store, struct setting_value_list *ret_list,
                                   boxcar_error *err) {
    (void)store;
    (void)err;
    *ret_list = (struct setting_value_list){.arena = ARENA_INIT};
    return BOXCAR_OK;
}

static const struct store_ops OPS = {.kind = "ledger",
                                     .close = close_store,
                                     .process = process,
                                     .settings_read = settings_read};

static void keep_record(void *context, const boxcar_log_record *record) {
    struct ledger_store *ledger = context;

    pthread_mutex_lock(&ledger->mutex);
    if (ledger->log_count < sizeof(ledger->log_levels) / sizeof(ledger->log_levels[0])) {
        snprintf(ledger->log_events[ledger->log_count], sizeof(ledger->log_events[0]), "%s", record->event);
        ledger->log_levels[ledger->log_count++] = record->level;
    }
    pthread_mutex_unlock(&ledger->mutex);
}

void ledger_init(struct ledger_store *ledger) {
    static char id[] = "ledger";

    memset(ledger, 0, sizeof(*ledger));
    pthread_mutex_init(&ledger->mutex, NULL);
    pthread_cond_init(&ledger->gate, NULL);
    ledger->store.ops = &OPS;
    ledger->store.id = id;
    ledger->store.log = keep_record;
    ledger->store.log_context = ledger;
    ledger->store.log_level = BOXCAR_LOG_WARN;
    ledger->fail_at = -1;
}

void ledger_release(struct ledger_store *ledger) {
    free(ledger->entries);
    pthread_cond_destroy(&ledger->gate);
    pthread_mutex_destroy(&ledger->mutex);
}

void ledger_await_gate(struct ledger_store *ledger) {
    pthread_mutex_lock(&ledger->mutex);
    while (ledger->at_gate == 0)
        pthread_cond_wait(&ledger->gate, &ledger->mutex);
    pthread_mutex_unlock(&ledger->mutex);
}

void ledger_open_gate(struct ledger_store *ledger) {
    pthread_mutex_lock(&ledger->mutex);
    ledger->gate_closed = false;
    pthread_cond_broadcast(&ledger->gate);
    pthread_mutex_unlock(&ledger->mutex);
}
