/* Counters of a transaction, gathered in memory and written once: one row a topic instead of
 * one a message. */
#include "tally.h"

#include <string.h>

#include "base/utf8.h"

static uint32_t hash(int box, boxcar_str topic) { /* FNV-1a */
    uint32_t value = 2166136261u ^ (uint32_t)box;

    for (size_t i = 0; i < topic.len; i++)
        value = (value ^ (unsigned char)topic.data[i]) * 16777619u;
    return value;
}

static bool is_entry(const struct tally_entry *entry, int box, boxcar_str topic) {
    return entry->box == box && str_equal(entry->topic, topic);
}

static size_t slot_of(const struct tally *tally, int box, boxcar_str topic) {
    size_t slot = hash(box, topic) & (tally->slot_count - 1);

    while (tally->slots[slot] != 0 && !is_entry(&tally->entries[tally->slots[slot] - 1], box, topic))
        slot = (slot + 1) & (tally->slot_count - 1);
    return slot;
}

static bool grow(struct tally *tally) {
    size_t capacity = tally->capacity == 0 ? 16 : tally->capacity * 2;
    uint32_t *slots = calloc(capacity * 2, sizeof(*slots));
    struct tally_entry *entries = realloc(tally->entries, capacity * sizeof(*entries));

    if (entries != NULL)
        tally->entries = entries;
    if (entries == NULL || slots == NULL) {
        free(slots);
        return false;
    }
    free(tally->slots);
    tally->slots = slots;
    tally->capacity = capacity;
    tally->slot_count = capacity * 2;
    for (size_t i = 0; i < tally->count; i++)
        slots[slot_of(tally, entries[i].box, entries[i].topic)] = (uint32_t)i + 1;
    return true;
}

static struct tally_entry *add_entry(struct sqlite_store *store, int box, boxcar_str topic) {
    struct tally *tally = &store->tally;
    boxcar_str copy;

    if (tally->count == tally->capacity && !grow(tally))
        return NULL;
    if (!arena_copy_str(&store->scratch, topic, &copy))
        return NULL;
    tally->slots[slot_of(tally, box, topic)] = (uint32_t)tally->count + 1;
    tally->entries[tally->count] = (struct tally_entry){.topic = copy, .box = box};
    return &tally->entries[tally->count++];
}

static struct tally_entry *find_entry(struct sqlite_store *store, int box, boxcar_str topic) {
    struct tally *tally = &store->tally;
    size_t slot;

    if (tally->last < tally->count && is_entry(&tally->entries[tally->last], box, topic))
        return &tally->entries[tally->last];
    if (tally->count == 0)
        return add_entry(store, box, topic);
    slot = slot_of(tally, box, topic);
    if (tally->slots[slot] == 0)
        return add_entry(store, box, topic);
    return &tally->entries[tally->slots[slot] - 1];
}

void sqlite_tally_add(struct sqlite_store *store, int box, boxcar_str topic, enum tally_kind kind,
                      int64_t delta) {
    struct tally_entry *entry = store->tally.failed ? NULL : find_entry(store, box, topic);

    if (entry == NULL) {
        store->tally.failed = true;
        return;
    }
    entry->delta[kind] += delta;
    store->tally.last = (size_t)(entry - store->tally.entries);
}

static boxcar_status write_entry(struct sqlite_store *store, const struct tally_entry *entry,
                                 boxcar_error *err) {
    struct query query = query_on(store, S_TALLY_ADD);

    query_int(&query, entry->box);
    query_text(&query, entry->topic);
    for (int kind = 0; kind < TALLY_KINDS; kind++)
        query_int(&query, entry->delta[kind]);
    return query_run(&query, err);
}

static boxcar_status flush_entry(struct sqlite_store *store, struct tally_entry *entry, boxcar_error *err) {
    static const int64_t nothing[TALLY_KINDS];
    boxcar_status status;

    if (memcmp(entry->delta, nothing, sizeof(nothing)) == 0)
        return BOXCAR_OK;
    status = write_entry(store, entry, err);
    if (status == BOXCAR_OK)
        memset(entry->delta, 0, sizeof(entry->delta));
    return status;
}

boxcar_status sqlite_tally_flush(struct sqlite_store *store, boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    if (store->tally.failed)
        return error_no_memory(err);
    for (size_t i = 0; status == BOXCAR_OK && i < store->tally.count; i++)
        status = flush_entry(store, &store->tally.entries[i], err);
    return status;
}

boxcar_status sqlite_tally_flush_parked(struct sqlite_store *store, boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    if (store->tally.failed)
        return error_no_memory(err);
    for (size_t i = 0; status == BOXCAR_OK && i < store->tally.count; i++) {
        if (store->tally.entries[i].delta[TALLY_PARKED] != 0)
            status = flush_entry(store, &store->tally.entries[i], err);
    }
    return status;
}

/* Keeps its memory: most transactions have few topics, and the next one comes soon. */
void sqlite_tally_clear(struct tally *tally) {
    if (tally->count > 0)
        memset(tally->slots, 0, tally->slot_count * sizeof(*tally->slots));
    tally->count = tally->last = 0;
    tally->failed = false;
}
