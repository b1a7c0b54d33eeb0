/* The stretches of the text are looked up by their hash while the payload passes by once: a payload may be
 * large, and cut, trimmed or quoted in part by the program that repeats it.
 *
 * Producers choose payloads, and programs often repeat them, so both may be made to collide. Hence the hash
 * has a secret base, and equal stretches of the text share one entry: an entry is then compared about once
 * for each byte of the payload, whatever the bytes are. */
#include "redact_payload.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/memory.h"

#define WHOLE_MIN 4 /* shorter payloads are ordinary words */

/* Hashes are polynomials modulo this prime: two different stretches collide for 15 bases at most. */
#define PRIME ((UINT64_C(1) << 61) - 1)

struct hasher {
    uint64_t base;
    uint64_t leaver; /* the base to the power of REDACT_STRETCH - 1: what the byte that leaves has grown to */
};

/* A place in the text; the first one of each different stretch is an entry. */
struct place {
    uint64_t hash;
    uint32_t next; /* 1 + place of the next entry in the slot; 0 = none */
    uint32_t twin; /* 1 + place of the next equal stretch; 0 = none */
};

struct places {
    struct hasher hasher;
    uint32_t *heads; /* of slots: 1 + place of the first entry; 0 = none */
    struct place *items;
    bool *hidden;
    size_t mask;
    size_t compared;
};

static uint64_t multiply(uint64_t a, uint64_t b) {
    unsigned __int128 product = (unsigned __int128)a * b;
    uint64_t sum = (uint64_t)(product & PRIME) + (uint64_t)(product >> 61);
    return sum >= PRIME ? sum - PRIME : sum;
}

static uint64_t add(uint64_t a, uint64_t b) { return a + b >= PRIME ? a + b - PRIME : a + b; }

/* Not a small base: then short stretches would not spread. */
static struct hasher hasher_make(uint64_t seed) {
    struct hasher hasher = {.base = (seed | UINT64_C(1) << 60) % PRIME, .leaver = 1};
    for (int i = 1; i < REDACT_STRETCH; i++)
        hasher.leaver = multiply(hasher.leaver, hasher.base);
    return hasher;
}

static uint64_t hash_first(const struct hasher *hasher, const char *bytes) {
    uint64_t hash = 0;
    for (int i = 0; i < REDACT_STRETCH; i++)
        hash = add(multiply(hash, hasher->base), (unsigned char)bytes[i]);
    return hash;
}

/* Of the i-th stretch; `hash` is that of the one before. */
static uint64_t hash_at(const struct hasher *hasher, const char *bytes, size_t i, uint64_t hash) {
    if (i == 0)
        return hash_first(hasher, bytes);
    uint64_t left = multiply(hasher->leaver, (unsigned char)bytes[i - 1]);
    return add(multiply(add(hash, PRIME - left), hasher->base), (unsigned char)bytes[i - 1 + REDACT_STRETCH]);
}

static size_t slot_of(const struct places *places, uint64_t hash) {
    return (size_t)(hash ^ (hash >> 31)) & places->mask;
}

/* The entry of an equal stretch; 0 = none. */
static uint32_t find(struct places *places, boxcar_str text, const char *stretch, uint64_t hash) {
    uint32_t entry = places->heads[slot_of(places, hash)];
    for (; entry; entry = places->items[entry - 1].next) {
        places->compared++;
        if (places->items[entry - 1].hash == hash &&
            memcmp(text.data + entry - 1, stretch, REDACT_STRETCH) == 0)
            return entry;
    }
    return 0;
}

static void place_add(struct places *places, boxcar_str text, size_t i, uint64_t hash) {
    struct place *place = &places->items[i];
    uint32_t entry = find(places, text, text.data + i, hash);
    if (entry) {
        place->twin = places->items[entry - 1].twin;
        places->items[entry - 1].twin = (uint32_t)i + 1;
        return;
    }
    uint32_t *head = &places->heads[slot_of(places, hash)];
    place->hash = hash;
    place->next = *head;
    *head = (uint32_t)i + 1;
}

static bool places_make(struct places *places, boxcar_str text) {
    size_t size = 64;
    while (size < text.len)
        size *= 2;
    places->mask = size - 1;
    places->heads = calloc(size, sizeof(*places->heads));
    places->items = calloc(text.len, sizeof(*places->items));
    places->hidden = calloc(text.len, sizeof(*places->hidden));
    if (!places->heads || !places->items || !places->hidden)
        return false;
    uint64_t hash = 0;
    for (size_t i = 0; i + REDACT_STRETCH <= text.len; i++) {
        hash = hash_at(&places->hasher, text.data, i, hash);
        place_add(places, text, i, hash);
    }
    return true;
}

static void places_release(struct places *places) {
    free(places->heads);
    free(places->items);
    free(places->hidden);
}

/* All places of the stretch. The list of twins is used up: what is hidden need not be hidden again. */
static void redact_where_equal(struct places *places, boxcar_str text, const char *stretch, uint64_t hash) {
    for (uint32_t entry = find(places, text, stretch, hash), twin; entry; entry = twin) {
        twin = places->items[entry - 1].twin;
        places->items[entry - 1].twin = 0;
        memset(places->hidden + entry - 1, true, REDACT_STRETCH);
    }
}

static void look_for(struct places *places, boxcar_str text, boxcar_str payload) {
    uint64_t hash = 0;
    for (size_t i = 0; i + REDACT_STRETCH <= payload.len; i++) {
        hash = hash_at(&places->hasher, payload.data, i, hash);
        redact_where_equal(places, text, payload.data + i, hash);
    }
}

static void append_rest(struct buf *into, boxcar_str text, const bool *hidden) {
    for (size_t i = 0, end; i < text.len; i = end) {
        for (end = i + 1; end < text.len && hidden[end] == hidden[i]; end++)
            continue;
        if (hidden[i])
            buf_append_text(into, "[payload]");
        else
            buf_append(into, text.data + i, end - i);
    }
}

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* A text that repeats a payload often leaves out the space around it. */
static boxcar_str trim(boxcar_str text) {
    while (text.len > 0 && is_space(text.data[text.len - 1]))
        text.len--;
    while (text.len > 0 && is_space(text.data[0]))
        text = (boxcar_str){text.data + 1, text.len - 1};
    return text;
}

static void redact_whole(struct buf *into, boxcar_str text, boxcar_str payload) {
    payload = trim(payload);
    const char *hit;
    while (payload.len >= WHOLE_MIN &&
           (hit = memmem(text.data, text.len, payload.data, payload.len)) != NULL) {
        size_t before = (size_t)(hit - text.data);
        buf_append(into, text.data, before);
        buf_append_text(into, "[payload]");
        text = (boxcar_str){hit + payload.len, text.len - before - payload.len};
    }
    buf_append_str(into, text);
}

size_t redact_payload_seeded(struct buf *into, boxcar_str text, boxcar_str payload, uint64_t seed) {
    if (payload.len < REDACT_STRETCH || text.len < REDACT_STRETCH || text.len > UINT32_MAX - 1) {
        redact_whole(into, text, payload);
        return 0;
    }
    CLEANUP(places_release) struct places places = {.hasher = hasher_make(seed)};
    if (places_make(&places, text)) {
        look_for(&places, text, payload);
        append_rest(into, text, places.hidden);
    } else {
        into->failed = true;
    }
    return places.compared;
}

static uint64_t SEED;

/* Where there is no randomness yet, the clock is harder to guess than nothing. */
static void make_seed(void) {
    if (getrandom(&SEED, sizeof(SEED), GRND_NONBLOCK) != (ssize_t)sizeof(SEED))
        SEED = (uint64_t)clock_us() * UINT64_C(0x9E3779B97F4A7C15);
}

void redact_payload(struct buf *into, boxcar_str text, boxcar_str payload) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_seed);
    (void)redact_payload_seeded(into, text, payload, SEED);
}
