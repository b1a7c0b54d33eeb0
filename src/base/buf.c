#include "buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALLEST_CAPACITY ((size_t)64)

/* At least doubles, so that appending stays linear; one big piece gets just its room. */
static size_t grown_capacity(const struct buf *buf, size_t needed) {
    size_t doubled = buf->capacity > SIZE_MAX / 2 ? SIZE_MAX : buf->capacity * 2;

    if (doubled < SMALLEST_CAPACITY)
        doubled = SMALLEST_CAPACITY;
    return needed > doubled ? needed : doubled;
}

bool buf_reserve(struct buf *buf, size_t extra) {
    bool is_possible = !buf->failed && extra < SIZE_MAX - buf->len;
    size_t needed = buf->len + extra + 1;

    if (is_possible && needed <= buf->capacity)
        return true;
    size_t capacity = grown_capacity(buf, needed);
    char *data = is_possible ? realloc(buf->data, capacity) : NULL;
    if (!data) {
        buf->failed = true;
        return false;
    }
    data[buf->len] = '\0';
    buf->data = data;
    buf->capacity = capacity;
    return true;
}

void buf_append(struct buf *buf, const void *bytes, size_t len) {
    if (len == 0 || !buf_reserve(buf, len))
        return;
    memcpy(buf->data + buf->len, bytes, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
}

void buf_append_str(struct buf *buf, boxcar_str text) { buf_append(buf, text.data, text.len); }

void buf_append_text(struct buf *buf, const char *text) { buf_append(buf, text, strlen(text)); }

void buf_append_char(struct buf *buf, char c) { buf_append(buf, &c, 1); }

void buf_append_format(struct buf *buf, const char *format, ...) {
    va_list args;

    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0)
        buf->failed = true;
    if (len <= 0 || !buf_reserve(buf, (size_t)len))
        return;
    va_start(args, format);
    vsnprintf(buf->data + buf->len, (size_t)len + 1, format, args);
    va_end(args);
    buf->len += (size_t)len;
}

static void append_big_endian(struct buf *buf, uint64_t value, size_t size) {
    uint8_t bytes[8];

    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> (8 * (size - 1 - i)));
    buf_append(buf, bytes, size);
}

void buf_append_u16(struct buf *buf, uint16_t value) { append_big_endian(buf, value, sizeof(value)); }

void buf_append_u32(struct buf *buf, uint32_t value) { append_big_endian(buf, value, sizeof(value)); }

void buf_append_u64(struct buf *buf, uint64_t value) { append_big_endian(buf, value, sizeof(value)); }

void buf_release(struct buf *buf) {
    free(buf->data);
    *buf = BUF_INIT;
}
