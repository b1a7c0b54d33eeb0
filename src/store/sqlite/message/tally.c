/* Counters of a transaction, gathered in memory and written once: one row a topic instead of
 * one a message. */
#include "tally.h"

#include <string.h>

#include "base/utf8.h"

static bool is_entry(const struct tally_entry *entry, int box, boxcar_str topic) {
    return entry->box == box && str_equal(entry->topic, topic);
}

static uint32_t *slot_of(const struct tally *tally, int box, boxcar_str topic) {
    size_t slot = str_hash(topic, (uint32_t)box) & (tally->slot_count - 1);
    while (tally->slots[slot] != 0 && !is_entry(&tally->entries[tally->slots[slot] - 1], box, topic))
        slot = (slot + 1) & (tally->slot_count - 1);
    return &tally->slots[slot];
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
        *slot_of(tally, entries[i].box, entries[i].topic) = (uint32_t)i + 1;
    return true;
}

static struct tally_entry *find_entry(struct sqlite_store *store, int box, boxcar_str topic) {
    struct tally *tally = &store->tally;
    if (tally->last < tally->count && is_entry(&tally->entries[tally->last], box, topic))
        return &tally->entries[tally->last];
    if (tally->count == tally->capacity && !grow(tally))
        return NULL;
    uint32_t *slot = slot_of(tally, box, topic);
    if (*slot == 0) {
        struct tally_entry entry = {.box = box};
        if (!arena_copy_str(&store->scratch, topic, &entry.topic))
            return NULL;
        tally->entries[tally->count] = entry;
        *slot = (uint32_t)++tally->count;
    }
    return &tally->entries[*slot - 1];
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

static boxcar_status write_entry(struct sqlite_store *store, struct tally_entry *entry, boxcar_error *err) {
    struct query query = query_with(store, S_TALLY_ADD, Q_INT(entry->box), Q_TEXT(entry->topic));
    for (int kind = 0; kind < TALLY_KINDS; kind++)
        query_int(&query, entry->delta[kind]);
    TRY(query_run(&query, err));
    memset(entry->delta, 0, sizeof(entry->delta));
    return BOXCAR_OK;
}

static bool has_changed(const struct tally_entry *entry) {
    static const int64_t nothing[TALLY_KINDS];
    return memcmp(entry->delta, nothing, sizeof(nothing)) != 0;
}

static boxcar_status flush(struct sqlite_store *store, bool parked_only, boxcar_error *err) {
    if (store->tally.failed)
        return error_no_memory(err);
    for (size_t i = 0; i < store->tally.count; i++) {
        struct tally_entry *entry = &store->tally.entries[i];
        if (has_changed(entry) && (!parked_only || entry->delta[TALLY_PARKED] != 0))
            TRY(write_entry(store, entry, err));
    }
    return BOXCAR_OK;
}

boxcar_status sqlite_tally_flush(struct sqlite_store *store, boxcar_error *err) {
    return flush(store, false, err);
}

boxcar_status sqlite_tally_flush_parked(struct sqlite_store *store, boxcar_error *err) {
    return flush(store, true, err);
}

/* Keeps its memory: most transactions have few topics, and the next one comes soon. */
void sqlite_tally_clear(struct tally *tally) {
    if (tally->count > 0)
        memset(tally->slots, 0, tally->slot_count * sizeof(*tally->slots));
    tally->count = tally->last = 0;
    tally->failed = false;
}
