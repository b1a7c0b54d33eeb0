#include "uuid.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "digest.h"
#include "error.h"

#define V7_RANDOM_SIZE 10
#define SERIES_BITS 26 /* of the number that orders a series */

static void set_version(uint8_t uuid[16], unsigned version) {
    uuid[6] = (uint8_t)((uuid[6] & 0x0F) | (version << 4));
    uuid[8] = (uint8_t)((uuid[8] & 0x3F) | 0x80); /* the variant of RFC 9562 */
}

void uuid_make_v7(uint64_t unix_ms, const uint8_t random[10], uint8_t ret_uuid[16]) {
    for (int i = 0; i < 6; i++)
        ret_uuid[i] = (uint8_t)(unix_ms >> (8 * (5 - i)));
    memcpy(ret_uuid + 6, random, V7_RANDOM_SIZE);
    set_version(ret_uuid, 7);
}

static bool fill_random(uint8_t *bytes, size_t len) {
    while (len > 0) {
        ssize_t got = getrandom(bytes, len, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return false;
        bytes += got;
        len -= (size_t)got;
    }
    return true;
}

static uint64_t now_ms(void) {
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* The number begins by chance, in the lower half of its range: two series of one millisecond hardly ever
 * meet, and 48 random bits of each id are left. */
static bool series_begin(struct uuid_series *series) {
    uint32_t chance;

    if (!fill_random((uint8_t *)&chance, sizeof(chance)))
        return false;
    *series =
        (struct uuid_series){.unix_ms = now_ms(), .next = chance >> (32 - SERIES_BITS + 1), .begun = true};
    return true;
}

/* Into the 12 bits behind the version and the 14 behind the variant. */
static void set_number(uint8_t random[V7_RANDOM_SIZE], uint32_t number) {
    random[0] = (uint8_t)(number >> 22 & 0x0F);
    random[1] = (uint8_t)(number >> 14);
    random[2] = (uint8_t)(number >> 8 & 0x3F);
    random[3] = (uint8_t)number;
}

bool uuid_series_next(struct uuid_series *series, uint8_t (*ret_uuids)[16], size_t count) {
    uint8_t random[25][V7_RANDOM_SIZE]; /* up to 256 bytes come without interruption */
    size_t room = sizeof(random) / sizeof(random[0]);

    if (!series->begun && !series_begin(series))
        return false;
    for (size_t done = 0; done < count;) {
        size_t n = count - done < room ? count - done : room;
        if (!fill_random(random[0], n * V7_RANDOM_SIZE))
            return false;
        for (size_t i = 0; i < n; i++) {
            set_number(random[i], series->next++);
            uuid_make_v7(series->unix_ms, random[i], ret_uuids[done + i]);
        }
        done += n;
    }
    return true;
}

/* One alone keeps all its chance. */
bool uuid_new_v7(uint8_t (*ret_uuids)[16], size_t count) {
    struct uuid_series series = {.begun = false};
    uint8_t random[V7_RANDOM_SIZE];

    if (count != 1)
        return uuid_series_next(&series, ret_uuids, count);
    if (!fill_random(random, sizeof(random)))
        return false;
    uuid_make_v7(now_ms(), random, ret_uuids[0]);
    return true;
}

boxcar_status uuid_ensure(boxcar_uuid *uuid, const char *what, boxcar_error *err) {
    if (!uuid_is_nil(uuid->bytes) || uuid_new_v7(&uuid->bytes, 1))
        return BOXCAR_OK;
    return error_set(err, BOXCAR_E_UNAVAILABLE, "the system gives no randomness for %s", what);
}

void uuid_derive(const char *name_space, boxcar_str text, uint8_t ret_uuid[16]) {
    uint8_t digest[DIGEST_SIZE];

    memset(ret_uuid, 0, 16);
    if (!digest_sha256(name_space, text, digest))
        return;
    memcpy(ret_uuid, digest, 16);
    set_version(ret_uuid, 8);
}

bool uuid_is_nil(const uint8_t uuid[16]) {
    static const uint8_t nil[16];

    return memcmp(uuid, nil, sizeof(nil)) == 0;
}

static bool is_dash_position(size_t i) { return i == 8 || i == 13 || i == 18 || i == 23; }

static int hex_value(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool boxcar_uuid_parse(boxcar_str text, boxcar_uuid *ret_uuid) {
    boxcar_uuid uuid;
    size_t n = 0;

    if (!text.data || text.len != BOXCAR_UUID_TEXT_SIZE - 1)
        return false;
    for (size_t i = 0; i < text.len;) {
        if (is_dash_position(i)) {
            if (text.data[i++] != '-')
                return false;
            continue;
        }
        int high = hex_value(text.data[i++]), low = hex_value(text.data[i++]);
        if (high < 0 || low < 0)
            return false;
        uuid.bytes[n++] = (uint8_t)(high << 4 | low);
    }
    *ret_uuid = uuid;
    return true;
}

void uuid_format(const uint8_t uuid[16], char ret_text[BOXCAR_UUID_TEXT_SIZE]) {
    static const char digits[] = "0123456789abcdef";
    char *out = ret_text;

    for (size_t i = 0; i < 16; i++) {
        if (is_dash_position((size_t)(out - ret_text)))
            *out++ = '-';
        *out++ = digits[uuid[i] >> 4];
        *out++ = digits[uuid[i] & 0x0F];
    }
    *out = '\0';
}

/* ---- what the caller has of it ---- */

/* Without randomness an id stays nil, which every call that takes one refuses. */
boxcar_uuid boxcar_uuid_new(void) {
    boxcar_uuid uuid = {{0}};

    (void)uuid_new_v7(&uuid.bytes, 1);
    return uuid;
}

bool boxcar_uuid_is_none(boxcar_uuid uuid) { return uuid_is_nil(uuid.bytes); }

void boxcar_uuid_format(boxcar_uuid uuid, char ret_text[BOXCAR_UUID_TEXT_SIZE]) {
    uuid_format(uuid.bytes, ret_text);
}
