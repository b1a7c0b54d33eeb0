#include "generation.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "request/prepare.h"

#define FIRST_CAPACITY 64

/* ---- the set of what is settled ---- */

static bool is_by_message_id(const boxcar_settlement *settlement) {
    return !boxcar_uuid_is_none(settlement->message_id.uuid);
}

/* Two message ids may have one key: then a request more is sent. */
static uint64_t set_key(boxcar_box box, const boxcar_settlement *settlement) {
    uint64_t halves[2] = {(uint64_t)settlement->work_id.value, 0};
    if (is_by_message_id(settlement))
        memcpy(halves, settlement->message_id.uuid.bytes, sizeof(halves));
    uint64_t key = (halves[0] ^ halves[1]) << 1 | (uint64_t)box;
    return key != 0 ? key : 2; /* 0 is a free slot */
}

/* Where the key is, or would be. There is always a free slot. */
static uint64_t *set_find(const struct id_set *set, uint64_t key) {
    size_t i = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (set->capacity - 1);
    while (set->slots[i] != 0 && set->slots[i] != key)
        i = (i + 1) & (set->capacity - 1);
    return &set->slots[i];
}

static bool set_has(const struct id_set *set, uint64_t key) {
    return set->count > 0 && *set_find(set, key) == key;
}

static bool set_grow(struct id_set *set) {
    size_t capacity = set->capacity ? set->capacity * 2 : FIRST_CAPACITY;
    struct id_set bigger = {calloc(capacity, sizeof(*set->slots)), set->count, capacity};
    if (!bigger.slots)
        return false;
    for (size_t i = 0; i < set->capacity; i++)
        if (set->slots[i] != 0)
            *set_find(&bigger, set->slots[i]) = set->slots[i];
    free(set->slots);
    *set = bigger;
    return true;
}

static bool set_add(struct id_set *set, uint64_t key) {
    if ((set->count + 1) * 2 > set->capacity && !set_grow(set))
        return false;
    uint64_t *slot = set_find(set, key);
    set->count += *slot == 0;
    *slot = key;
    return true;
}

static void set_clear(struct id_set *set) {
    if (set->count > 0)
        memset(set->slots, 0, set->capacity * sizeof(*set->slots));
    set->count = 0;
}

/* ---- life ---- */

struct generation *generation_new(void) {
    return calloc(1, sizeof(struct generation));
}

void generation_free(struct generation *generation) {
    if (!generation)
        return;
    arena_release(&generation->arena);
    for (int box = 0; box < BOXES; box++) {
        free(generation->messages[box].items);
        free(generation->messages[box].keys);
        free(generation->messages[box].tickets);
        for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
            gather_release(&generation->settle[box][kind]);
    }
    free(generation->settled.slots);
    free(generation->recorded.slots);
    free(generation);
}

void generation_reset(struct generation *generation, uint64_t first) {
    arena_release(&generation->arena);
    for (int box = 0; box < BOXES; box++) {
        generation->messages[box].count = 0;
        generation->messages[box].has_ids = generation->messages[box].has_keys = false;
        generation->renew_lease_ms[box] = 0;
        generation->by_work_id[box] = generation->by_message_id[box] = false;
        for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
            generation->settle[box][kind].count = 0;
    }
    set_clear(&generation->settled);
    set_clear(&generation->recorded);
    generation->next = NULL;
    generation->first = first;
    generation->count = generation->decided = 0;
    generation->sealed = generation->sent_before = false;
    generation->search = (struct refusal_search){0};
}

/* ---- queueing ---- */

bool generation_fits(const struct generation *generation, const struct operation *operation) {
    if (operation->message)
        return true;
    if (is_by_message_id(operation->settlement) ? generation->by_work_id[operation->box]
                                                : generation->by_message_id[operation->box])
        return false;
    uint64_t key = set_key(operation->box, operation->settlement);
    if (operation->kind == BOXCAR_RECORD && set_has(&generation->recorded, key))
        return false;
    int64_t lease_ms = generation->renew_lease_ms[operation->box];
    if (operation->kind == BOXCAR_RENEW && lease_ms != 0 && lease_ms != operation->lease_ms)
        return false;
    return !set_has(&generation->settled, key);
}

static bool grow_messages(struct queued_messages *list) {
    size_t capacity = list->capacity ? list->capacity * 2 : FIRST_CAPACITY;
    if (!memory_resize(&list->items, capacity, sizeof(*list->items)) ||
        !memory_resize(&list->tickets, capacity, sizeof(*list->tickets)) ||
        (list->keys && !memory_resize(&list->keys, capacity, sizeof(*list->keys))))
        return false;
    list->capacity = capacity;
    return true;
}

static bool copy_texts(struct arena *arena, boxcar_new_message *message) {
    boxcar_str *texts[] = {&message->topic,       &message->payload,     &message->correlation_id,
                           &message->stream,      &message->headers,     &message->causation_id,
                           &message->metadata,    &message->event_type,  &message->source,
                           &message->external_id, &message->content_hash};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (!arena_copy_str(arena, *texts[i], texts[i]))
            return false;
    return true;
}

/* Those before the first that has a key have none. */
static bool keep_key(struct queued_messages *list, struct message_key key) {
    bool has_key = !boxcar_uuid_is_none(key.id.uuid);
    if (has_key && !list->keys)
        list->keys = calloc(list->capacity, sizeof(*list->keys));
    if (!list->keys)
        return !has_key;
    list->keys[list->count] = key;
    list->has_keys = list->has_keys || has_key;
    return true;
}

static bool add_message(struct generation *generation, const struct operation *operation) {
    struct queued_messages *list = &generation->messages[operation->box];
    if (list->count == list->capacity && !grow_messages(list))
        return false;
    boxcar_new_message *message = &list->items[list->count];
    struct message_key key;
    *message = *operation->message;
    if (!prepare_message(operation->box, message, &key) || !copy_texts(&generation->arena, message) ||
        !keep_key(list, key))
        return false;
    list->has_ids = list->has_ids || !boxcar_uuid_is_none(message->message_id.uuid);
    list->tickets[list->count++] = generation->first + generation->count;
    return true;
}

static bool add_settlement(struct generation *generation, const struct operation *operation) {
    boxcar_settle_kind kind = operation->kind;
    boxcar_settlement settlement = *operation->settlement;
    prepare_settlement(kind, &settlement);
    if (kind != BOXCAR_ABANDON && kind != BOXCAR_FAIL)
        settlement.error = BOXCAR_NO_STR; /* it would not be read */
    if (!arena_copy_str(&generation->arena, settlement.error, &settlement.error) ||
        !set_add(kind == BOXCAR_RECORD ? &generation->recorded : &generation->settled,
                 set_key(operation->box, &settlement)) ||
        !gather_add(&generation->settle[operation->box][kind], &settlement,
                    (union gather_tag){.number = generation->first + generation->count}))
        return false;
    if (is_by_message_id(&settlement))
        generation->by_message_id[operation->box] = true;
    else
        generation->by_work_id[operation->box] = true;
    if (kind == BOXCAR_RENEW)
        generation->renew_lease_ms[operation->box] = operation->lease_ms;
    return true;
}

bool generation_add(struct generation *generation, const struct operation *operation) {
    bool added =
        operation->message ? add_message(generation, operation) : add_settlement(generation, operation);
    generation->count += added;
    return added;
}

static struct stretch messages_between(const struct queued_messages *list, uint64_t low, uint64_t high) {
    return stretch_between(list->tickets, list->count, low, high);
}

/* The set keeps what was in it: at worst a later operation goes into a request of its own. */
void generation_truncate(struct generation *generation, size_t count) {
    uint64_t end = generation->first + count;
    for (int box = 0; box < BOXES; box++) {
        struct queued_messages *messages = &generation->messages[box];
        messages->count = messages_between(messages, 0, end).count;
        for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
            generation->settle[box][kind].count =
                gather_between(&generation->settle[box][kind], 0, end).count;
    }
    generation->count = count;
}

/* ---- sending ---- */

boxcar_status generation_prepare(struct generation *generation, struct boxcar_store *store,
                                 boxcar_error *err) {
    generation->search.end = generation->count;
    for (int box = 0; box < BOXES; box++) {
        TRY(prepare_ids(generation->messages[box].items, generation->messages[box].count, err));
        if (generation->by_message_id[box])
            TRY(prepare_work_ids(store, (boxcar_box)box, generation->settle[box], err));
    }
    return BOXCAR_OK;
}

void generation_fill(const struct generation *generation, size_t from, size_t count,
                     struct request *request) {
    uint64_t low = generation->first + from, high = low + count;
    request->base.sent_before = generation->sent_before;
    for (int box = 0; box < BOXES; box++) {
        const struct queued_messages *list = &generation->messages[box];
        struct stretch messages = messages_between(list, low, high);
        if (messages.count > 0) {
            request->base.messages[box] =
                (boxcar_new_message_list){list->items + messages.from, messages.count};
            request->own[box].keys = list->has_keys ? list->keys + messages.from : NULL;
        }
        request->own[box].fresh_ids = !list->has_ids && !list->has_keys;
        request->parts[box].renew_lease_ms = generation->renew_lease_ms[box];
        for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++) {
            const struct gather_list *all = &generation->settle[box][kind];
            struct stretch some = gather_between(all, low, high);
            if (some.count > 0)
                request->parts[box].settle[kind] =
                    (boxcar_settlement_list){all->items + some.from, some.count};
        }
    }
}

/* ---- results ---- */

static boxcar_flushed result_of(uint64_t ticket, boxcar_box box, const boxcar_enqueued *enqueued) {
    return (boxcar_flushed){.ticket = ticket,
                            .enqueues = true,
                            .box = box,
                            .outcome =
                                enqueued->duplicate ? BOXCAR_OUTCOME_DUPLICATE : BOXCAR_OUTCOME_ENQUEUED,
                            .work_id = enqueued->work_id,
                            .message_id = enqueued->message_id,
                            .hash_mismatch = enqueued->hash_mismatch};
}

/* Every result begins as `result`. */
static void take_settled(const struct gather_list *list, uint64_t low, uint64_t high, boxcar_flushed result,
                         struct work_id_list *affected, boxcar_flushed *results) {
    struct stretch some = gather_between(list, low, high);
    gather_sort(affected);
    for (size_t i = some.from; i < some.from + some.count; i++) {
        result.ticket = list->tags[i].number;
        result.outcome =
            gather_affected(affected, &list->items[i]) ? BOXCAR_OUTCOME_SETTLED : BOXCAR_OUTCOME_LOST;
        result.work_id = list->items[i].work_id;
        result.message_id = list->items[i].message_id;
        results[result.ticket - low] = result;
    }
}

void generation_take_answer(const struct generation *generation, size_t from, size_t count,
                            struct result *answer, boxcar_flushed *results) {
    uint64_t low = generation->first + from, high = low + count;
    for (int box = 0; box < BOXES; box++) {
        const uint64_t *tickets = generation->messages[box].tickets;
        struct stretch some = messages_between(&generation->messages[box], low, high);
        struct part_result *part = &answer->parts[box];
        for (size_t i = 0; i < some.count; i++) {
            uint64_t ticket = tickets[some.from + i];
            results[ticket - low] = result_of(ticket, (boxcar_box)box, &part->enqueued[i]);
        }
        for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
            take_settled(&generation->settle[box][kind], low, high,
                         (boxcar_flushed){.kind = (boxcar_settle_kind)kind, .box = (boxcar_box)box},
                         &part->settled[kind], results);
    }
}

/* A refusal is an answer in which nothing happened, and why. */
void generation_take_refusal(const struct generation *generation, size_t at, const boxcar_error *error,
                             boxcar_flushed *result) {
    boxcar_enqueued nothing = {.work_id = {0}};
    struct result answer = {.parts = {{.enqueued = &nothing}, {.enqueued = &nothing}}};
    struct request request = {.instances = NULL};
    generation_fill(generation, at, 1, &request);
    for (int box = 0; box < BOXES; box++)
        if (request.base.messages[box].count > 0)
            nothing.message_id = request.base.messages[box].items[0].message_id;
    generation_take_answer(generation, at, 1, &answer, result);
    result->outcome = BOXCAR_OUTCOME_REFUSED;
    result->error = error;
}
