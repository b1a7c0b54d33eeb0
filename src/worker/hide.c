/* The stretches of the text are looked up by their hash while the payload passes by once: a payload may be
 * large, and cut, trimmed or quoted in part by whoever repeats it. A place that is found leaves the table,
 * so that texts which repeat themselves cost no more. */
#include "hide.h"

#include <stdlib.h>
#include <string.h>

#define WHOLE_MIN 4 /* shorter payloads are ordinary words */
#define FACTOR UINT32_C(16777619)

struct places {
    uint32_t *heads, *next; /* 1 + place; 0 = none */
    bool *hidden;
    size_t mask;
};

static uint32_t hash_first(const char *bytes) {
    uint32_t hash = 0;

    for (int i = 0; i < HIDE_STRETCH; i++)
        hash = hash * FACTOR + (unsigned char)bytes[i];
    return hash;
}

/* FACTOR to the power of HIDE_STRETCH: what the byte that leaves has grown to. */
static uint32_t weight_of_leaver(void) {
    uint32_t weight = 1;

    for (int i = 0; i < HIDE_STRETCH; i++)
        weight *= FACTOR;
    return weight;
}

static size_t slot_of(const struct places *places, uint32_t hash) {
    return (hash ^ (hash >> 15)) & places->mask;
}

static bool places_make(struct places *places, boxcar_str text) {
    size_t size = 64;
    uint32_t hash = hash_first(text.data), weight = weight_of_leaver();

    while (size < text.len)
        size *= 2;
    places->mask = size - 1;
    places->heads = calloc(size, sizeof(*places->heads));
    places->next = calloc(text.len, sizeof(*places->next));
    places->hidden = calloc(text.len, sizeof(*places->hidden));
    if (!places->heads || !places->next || !places->hidden)
        return false;
    for (size_t i = 0; i + HIDE_STRETCH <= text.len; i++) {
        size_t slot = slot_of(places, hash);

        places->next[i] = places->heads[slot];
        places->heads[slot] = (uint32_t)i + 1;
        if (i + HIDE_STRETCH < text.len)
            hash = hash * FACTOR + (unsigned char)text.data[i + HIDE_STRETCH] -
                   weight * (unsigned char)text.data[i];
    }
    return true;
}

static void places_release(struct places *places) {
    free(places->heads);
    free(places->next);
    free(places->hidden);
}

static void hide_where_equal(struct places *places, boxcar_str text, const char *stretch, uint32_t hash) {
    uint32_t *at = &places->heads[slot_of(places, hash)];

    while (*at) {
        size_t place = *at - 1;

        if (memcmp(text.data + place, stretch, HIDE_STRETCH) != 0) {
            at = &places->next[place];
            continue;
        }
        memset(places->hidden + place, true, HIDE_STRETCH);
        *at = places->next[place];
    }
}

static void look_for(struct places *places, boxcar_str text, boxcar_str payload) {
    uint32_t hash = hash_first(payload.data), weight = weight_of_leaver();

    for (size_t i = 0; i + HIDE_STRETCH <= payload.len; i++) {
        hide_where_equal(places, text, payload.data + i, hash);
        if (i + HIDE_STRETCH < payload.len)
            hash = hash * FACTOR + (unsigned char)payload.data[i + HIDE_STRETCH] -
                   weight * (unsigned char)payload.data[i];
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

/* Whoever repeats a payload often leaves out the space around it. */
static boxcar_str trim(boxcar_str text) {
    while (text.len > 0 && is_space(text.data[text.len - 1]))
        text.len--;
    while (text.len > 0 && is_space(text.data[0]))
        text = (boxcar_str){text.data + 1, text.len - 1};
    return text;
}

static void hide_whole(struct buf *into, boxcar_str text, boxcar_str payload) {
    const char *hit;

    payload = trim(payload);
    while (payload.len >= WHOLE_MIN &&
           (hit = memmem(text.data, text.len, payload.data, payload.len)) != NULL) {
        size_t before = (size_t)(hit - text.data);

        buf_append(into, text.data, before);
        buf_append_text(into, "[payload]");
        text = (boxcar_str){hit + payload.len, text.len - before - payload.len};
    }
    buf_append_str(into, text);
}

void hide_payload(struct buf *into, boxcar_str text, boxcar_str payload) {
    struct places places = {0};

    if (payload.len < HIDE_STRETCH || text.len < HIDE_STRETCH || text.len > UINT32_MAX - 1) {
        hide_whole(into, text, payload);
        return;
    }
    if (places_make(&places, text)) {
        look_for(&places, text, payload);
        append_rest(into, text, places.hidden);
    } else {
        into->failed = true;
    }
    places_release(&places);
}
