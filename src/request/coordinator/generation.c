#include "generation.h"

#include <stdlib.h>
#include <string.h>

#include "request/prepare.h"

#define FIRST_CAPACITY 64

/* ---- the set of what is settled ---- */

static bool is_by_message_id(const boxcar_settlement *settlement) {
    return !boxcar_uuid_is_none(settlement->message_id.uuid);
}

/* Two message ids may have one key: then a request more is sent. */
static uint64_t set_key(boxcar_box box, const boxcar_settlement *settlement) {
    uint64_t halves[2] = {(uint64_t)settlement->work_id.value, 0};
    uint64_t key;

    if (is_by_message_id(settlement))
        memcpy(halves, settlement->message_id.uuid.bytes, sizeof(halves));
    key = (halves[0] ^ halves[1]) << 1 | (uint64_t)box;
    return key != 0 ? key : 2; /* 0 is a free slot */
}

/* Where the key is, or would be. There is always a free slot. */
static size_t set_find(const struct id_set *set, uint64_t key) {
    size_t i = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (set->capacity - 1);

    while (set->slots[i] != 0 && set->slots[i] != key)
        i = (i + 1) & (set->capacity - 1);
    return i;
}

static bool set_has(const struct id_set *set, uint64_t key) {
    return set->count > 0 && set->slots[set_find(set, key)] == key;
}

static bool set_grow(struct id_set *set) {
    struct id_set bigger = {.count = set->count,
                            .capacity = set->capacity ? set->capacity * 2 : FIRST_CAPACITY};

    bigger.slots = calloc(bigger.capacity, sizeof(*bigger.slots));
    if (!bigger.slots)
        return false;
    for (size_t i = 0; i < set->capacity; i++)
        if (set->slots[i] != 0)
            bigger.slots[set_find(&bigger, set->slots[i])] = set->slots[i];
    free(set->slots);
    *set = bigger;
    return true;
}

static bool set_add(struct id_set *set, uint64_t key) {
    size_t i;

    if ((set->count + 1) * 2 > set->capacity && !set_grow(set))
        return false;
    i = set_find(set, key);
    set->count += set->slots[i] == 0;
    set->slots[i] = key;
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
        generation->messages[box].count = generation->messages[box].missing_ids = 0;
        generation->messages[box].given_ids = generation->messages[box].has_keys = false;
        generation->renew_lease_ms[box] = 0;
        generation->by_work_id[box] = generation->by_message_id[box] = false;
        for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
            gather_clear(&generation->settle[box][kind]);
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
    int64_t lease_ms = generation->renew_lease_ms[operation->box];
    uint64_t key;

    if (operation->message)
        return true;
    if (is_by_message_id(operation->settlement) ? generation->by_work_id[operation->box]
                                                : generation->by_message_id[operation->box])
        return false;
    key = set_key(operation->box, operation->settlement);
    if (operation->kind == BOXCAR_RECORD && set_has(&generation->recorded, key))
        return false;
    if (operation->kind == BOXCAR_RENEW && lease_ms != 0 && lease_ms != operation->lease_ms)
        return false;
    return !set_has(&generation->settled, key);
}

static bool grow_keys(struct queued_messages *list, size_t capacity) {
    struct message_key *keys = realloc(list->keys, capacity * sizeof(*keys));

    if (keys)
        list->keys = keys;
    return keys != NULL;
}

static bool grow_messages(struct queued_messages *list) {
    size_t capacity = list->capacity ? list->capacity * 2 : FIRST_CAPACITY;
    boxcar_new_message *items = realloc(list->items, capacity * sizeof(*items));
    uint64_t *tickets;

    if (!items)
        return false;
    list->items = items;
    tickets = realloc(list->tickets, capacity * sizeof(*tickets));
    if (!tickets)
        return false;
    list->tickets = tickets;
    if (list->keys && !grow_keys(list, capacity))
        return false;
    list->capacity = capacity;
    return true;
}

static bool copy_texts(struct arena *arena, boxcar_new_message *message) {
    return arena_copy_str(arena, message->topic, &message->topic) &&
           arena_copy_str(arena, message->payload, &message->payload) &&
           arena_copy_str(arena, message->correlation_id, &message->correlation_id) &&
           arena_copy_str(arena, message->stream, &message->stream) &&
           arena_copy_str(arena, message->headers, &message->headers) &&
           arena_copy_str(arena, message->causation_id, &message->causation_id) &&
           arena_copy_str(arena, message->metadata, &message->metadata) &&
           arena_copy_str(arena, message->event_type, &message->event_type) &&
           arena_copy_str(arena, message->source, &message->source) &&
           arena_copy_str(arena, message->external_id, &message->external_id) &&
           arena_copy_str(arena, message->content_hash, &message->content_hash);
}

/* Those before the first that has a key have none. */
static bool keep_key(struct queued_messages *list, struct message_key key) {
    bool has_key = !boxcar_uuid_is_none(key.id.uuid);

    if (!list->keys && !has_key)
        return true;
    if (!list->keys)
        list->keys = calloc(list->capacity, sizeof(*list->keys));
    if (!list->keys)
        return false;
    list->keys[list->count] = key;
    list->has_keys = list->has_keys || has_key;
    list->given_ids = list->given_ids || has_key;
    return true;
}

static bool add_message(struct generation *generation, const struct operation *operation) {
    struct queued_messages *list = &generation->messages[operation->box];
    boxcar_new_message message = *operation->message;
    struct message_key key = {.unique = false};
    bool has_id;

    if (list->count == list->capacity && !grow_messages(list))
        return false;
    if (!prepare_message(operation->box, &message, &key) || !copy_texts(&generation->arena, &message))
        return false;
    if (!keep_key(list, key))
        return false;
    has_id = !boxcar_uuid_is_none(message.message_id.uuid);
    list->given_ids = list->given_ids || has_id;
    list->missing_ids += !has_id;
    list->tickets[list->count] = generation->first + generation->count;
    list->items[list->count++] = message;
    return true;
}

static bool add_settlement(struct generation *generation, const struct operation *operation) {
    boxcar_settle_kind kind = operation->kind;
    struct gather_list *list = &generation->settle[operation->box][kind];
    boxcar_settlement settlement = *operation->settlement;
    union gather_tag tag = {.number = generation->first + generation->count};

    prepare_settlement(kind, &settlement);
    if (kind != BOXCAR_ABANDON && kind != BOXCAR_FAIL)
        settlement.error = BOXCAR_NO_STR; /* it would not be read */
    if (!arena_copy_str(&generation->arena, settlement.error, &settlement.error) ||
        !set_add(kind == BOXCAR_RECORD ? &generation->recorded : &generation->settled,
                 set_key(operation->box, &settlement)) ||
        !gather_add(list, &settlement, tag))
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

/* The set keeps what was in it: at worst a later operation goes into a request of its own. */
void generation_truncate(struct generation *generation, size_t count) {
    uint64_t end = generation->first + count;

    for (int box = 0; box < BOXES; box++) {
        struct queued_messages *messages = &generation->messages[box];
        size_t left = messages->count ? gather_position(messages->tickets, messages->count, end) : 0;

        for (size_t i = left; i < messages->count; i++)
            messages->missing_ids -= boxcar_uuid_is_none(messages->items[i].message_id.uuid);
        messages->count = left;
        for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
            generation->settle[box][kind].count =
                gather_between(&generation->settle[box][kind], 0, end).count;
    }
    generation->count = count;
}

/* ---- sending ---- */

static boxcar_status find_work_ids(struct generation *generation, struct boxcar_store *store, boxcar_box box,
                                   boxcar_error *err) {
    struct settlements settlements;

    if (!generation->by_message_id[box])
        return BOXCAR_OK;
    for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++) {
        settlements.lists[kind].items = generation->settle[box][kind].items;
        settlements.lists[kind].count = generation->settle[box][kind].count;
    }
    return prepare_work_ids(store, box, &settlements, err);
}

boxcar_status generation_prepare(struct generation *generation, struct boxcar_store *store,
                                 boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    for (int box = 0; status == BOXCAR_OK && box < BOXES; box++) {
        struct queued_messages *list = &generation->messages[box];

        if (list->missing_ids > 0)
            status = prepare_ids(list->items, list->count, list->missing_ids, err);
        list->missing_ids = status == BOXCAR_OK ? 0 : list->missing_ids;
        if (status == BOXCAR_OK)
            status = find_work_ids(generation, store, (boxcar_box)box, err);
    }
    generation->search.end = generation->count;
    return status;
}

/* Neighbours in a list of messages. */
struct message_range {
    size_t from, count;
};

static struct message_range messages_between(const struct queued_messages *list, uint64_t from, uint64_t to) {
    size_t low;

    if (list->count == 0)
        return (struct message_range){0, 0};
    low = gather_position(list->tickets, list->count, from);
    return (struct message_range){low, gather_position(list->tickets, list->count, to) - low};
}

void generation_fill(const struct generation *generation, size_t from, size_t count,
                     struct request *request) {
    uint64_t low = generation->first + from, high = low + count;

    request->base.sent_before = generation->sent_before;
    for (int box = 0; box < BOXES; box++) {
        const struct queued_messages *list = &generation->messages[box];
        struct message_range range = messages_between(list, low, high);
        boxcar_request_part *part = &request->parts[box];

        request->base.messages[box] =
            (boxcar_new_message_list){range.count > 0 ? list->items + range.from : NULL, range.count};
        request->own[box].keys = range.count > 0 && list->has_keys ? list->keys + range.from : NULL;
        request->own[box].fresh_ids = !list->given_ids;
        part->renew_lease_ms = generation->renew_lease_ms[box];
        for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++) {
            struct gather_range settle = gather_between(&generation->settle[box][kind], low, high);

            part->settle[kind] = (boxcar_settlement_list){settle.items, settle.count};
        }
    }
}

/* ---- results ---- */

/* Where results go, and what they are about. */
struct taking {
    boxcar_flushed *results; /* of the ticket `first` and those that follow */
    uint64_t first;
    boxcar_settle_kind kind;
    boxcar_box box;
};

static void take_enqueued(const struct taking *taking, uint64_t ticket, const boxcar_enqueued *enqueued) {
    taking->results[ticket - taking->first] =
        (boxcar_flushed){.ticket = ticket,
                         .enqueues = true,
                         .box = taking->box,
                         .outcome = enqueued->duplicate ? BOXCAR_OUTCOME_DUPLICATE : BOXCAR_OUTCOME_ENQUEUED,
                         .work_id = enqueued->work_id,
                         .message_id = enqueued->message_id,
                         .hash_mismatch = enqueued->hash_mismatch};
}

static void take_settled(void *context, union gather_tag tag, const boxcar_settlement *settlement,
                         bool affected) {
    const struct taking *taking = context;

    taking->results[tag.number - taking->first] =
        (boxcar_flushed){.ticket = tag.number,
                         .kind = taking->kind,
                         .box = taking->box,
                         .outcome = affected ? BOXCAR_OUTCOME_SETTLED : BOXCAR_OUTCOME_LOST,
                         .work_id = settlement->work_id,
                         .message_id = settlement->message_id};
}

static void take_part(const struct generation *generation, struct taking *taking, uint64_t end,
                      struct part_result *answer) {
    const struct queued_messages *list = &generation->messages[taking->box];
    struct message_range range = messages_between(list, taking->first, end);

    for (size_t i = 0; i < range.count; i++)
        take_enqueued(taking, list->tickets[range.from + i], &answer->enqueued[i]);
    for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++) {
        taking->kind = (boxcar_settle_kind)kind;
        gather_match(gather_between(&generation->settle[taking->box][kind], taking->first, end),
                     &answer->settled[kind], take_settled, taking);
    }
}

void generation_take_answer(const struct generation *generation, size_t from, size_t count,
                            struct result *answer, boxcar_flushed *results) {
    struct taking taking = {.results = results, .first = generation->first + from};

    for (int box = 0; box < BOXES; box++) {
        taking.box = (boxcar_box)box;
        take_part(generation, &taking, taking.first + count, &answer->parts[box]);
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
