#include "mangle.h"

#include <arpa/inet.h>
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "storm.h"

#define FIELDS_MAX 64
#define NULL_LENGTH UINT32_MAX

static uint64_t below(struct mangle *mangle, uint64_t limit) { return draw(&mangle->chance) % limit; }

static void add(unsigned char **bytes, size_t *len, size_t *size, const void *more, size_t count) {
    if (*len + count > *size) {
        *size = (*len + count) * 2;
        *bytes = realloc(*bytes, *size);
        if (!*bytes)
            err(99, "mangle");
    }
    if (count > 0)
        memcpy(*bytes + *len, more, count);
    *len += count;
}

static void emit(struct mangle *mangle, const void *bytes, size_t count) {
    add(&mangle->out, &mangle->out_len, &mangle->out_size, bytes, count);
}

static uint32_t get4(const unsigned char *at) {
    uint32_t value;
    memcpy(&value, at, sizeof(value));
    return ntohl(value);
}

static void put4(unsigned char *at, uint32_t value) {
    value = htonl(value);
    memcpy(at, &value, sizeof(value));
}

static unsigned get2(const unsigned char *at) { return (unsigned)at[0] << 8 | at[1]; }

static void put2(unsigned char *at, unsigned value) {
    at[0] = (unsigned char)(value >> 8);
    at[1] = (unsigned char)value;
}

static void emit_message(struct mangle *mangle, char type, const unsigned char *body, size_t len) {
    unsigned char head[5] = {(unsigned char)type};
    put4(head + 1, (uint32_t)len + 4);
    emit(mangle, head, sizeof(head));
    emit(mangle, body, len);
}

/* ---- rows ---- */

struct row {
    unsigned count;
    struct {
        const unsigned char *bytes;
        uint32_t len; /* NULL_LENGTH = null */
    } fields[FIELDS_MAX];
    unsigned char *own; /* the bytes of the field that was changed */
};

static bool read_row(const unsigned char *body, size_t len, struct row *row) {
    size_t at = 2;
    *row = (struct row){.count = len >= 2 ? get2(body) : 0};
    if (row->count == 0 || row->count > FIELDS_MAX)
        return false;
    for (unsigned i = 0; i < row->count; i++) {
        row->fields[i].len = get4(body + at);
        row->fields[i].bytes = body + at + 4;
        at += 4 + (row->fields[i].len == NULL_LENGTH ? 0 : row->fields[i].len);
    }
    return true;
}

static void emit_row(struct mangle *mangle, const struct row *row) {
    unsigned char *body = NULL, number[4];
    size_t len = 0, size = 0;
    put2(number, row->count);
    add(&body, &len, &size, number, 2);
    for (unsigned i = 0; i < row->count; i++) {
        put4(number, row->fields[i].len);
        add(&body, &len, &size, number, 4);
        if (row->fields[i].len != NULL_LENGTH)
            add(&body, &len, &size, row->fields[i].bytes, row->fields[i].len);
    }
    emit_message(mangle, 'D', body, len);
    free(body);
}

static uint32_t odd_number(struct mangle *mangle) {
    static const uint32_t NUMBERS[] = {0,          1,        2,          3,          UINT32_MAX,
                                       INT32_MAX,  1u << 31, 0x7ffffffe, 0x01000000, 100000,
                                       0xfffffffe, 20,       2951 << 8,  9};
    return NUMBERS[below(mangle, sizeof(NUMBERS) / sizeof(NUMBERS[0]))];
}

static void resize(struct mangle *mangle, struct row *row, unsigned i) {
    static const uint32_t SIZES[] = {0,  1,  2,  3,  4,  5,  7,  8,  9,  11, 12,
                                     15, 16, 17, 19, 20, 21, 24, 32, 40, 44, 1000};
    uint32_t old = row->fields[i].len == NULL_LENGTH ? 0 : row->fields[i].len;
    uint32_t len =
        below(mangle, 3) == 0 && old > 0 ? old - 1 : SIZES[below(mangle, sizeof(SIZES) / sizeof(SIZES[0]))];
    row->own = malloc(len + 1);
    if (!row->own)
        err(99, "mangle");
    for (uint32_t k = 0; k < len; k++)
        row->own[k] = k < old ? row->fields[i].bytes[k] : (unsigned char)below(mangle, 256);
    row->fields[i].bytes = row->own;
    row->fields[i].len = len;
}

static void overwrite(struct mangle *mangle, struct row *row, unsigned i) {
    uint32_t len = row->fields[i].len;
    if (len == NULL_LENGTH || len == 0)
        return;
    row->own = malloc(len);
    if (!row->own)
        err(99, "mangle");
    memcpy(row->own, row->fields[i].bytes, len);
    if (len >= 4 && below(mangle, 2) == 0)
        put4(row->own + below(mangle, len / 4) * 4, odd_number(mangle));
    else
        for (uint64_t k = 1 + below(mangle, 3); k > 0; k--)
            row->own[below(mangle, len)] = below(mangle, 3) == 0 ? 0 : (unsigned char)below(mangle, 256);
    row->fields[i].bytes = row->own;
}

static void change_row(struct mangle *mangle, struct row *row) {
    unsigned i = (unsigned)below(mangle, row->count);
    switch (below(mangle, 5)) {
    case 0:
        row->fields[i].len = NULL_LENGTH;
        break;
    case 1:
    case 2:
        resize(mangle, row, i);
        break;
    default:
        overwrite(mangle, row, i);
    }
}

static void pass_row(struct mangle *mangle, const unsigned char *body, size_t len, bool change) {
    struct row row;
    uint64_t times = 1;
    if (!read_row(body, len, &row)) {
        emit_message(mangle, 'D', body, len);
        return;
    }
    row.count -= mangle->drops_column && row.count > 0;
    if (change && row.count > 0 && below(mangle, 6) > 0)
        change_row(mangle, &row);
    else if (change)
        times = below(mangle, 4); /* none, or more than there are */
    for (; times > 0; times--)
        emit_row(mangle, &row);
    free(row.own);
}

/* ---- what the columns are ---- */

/* Behind its name a column has 18 bytes: table, attribute, type, length, modifier, format. */
static void pass_columns(struct mangle *mangle, const unsigned char *body, size_t len, bool change) {
    unsigned count = len >= 2 ? get2(body) : 0;
    unsigned char *copy = malloc(len + 1);
    size_t at = 2, last = 2;
    bool drop = change && count > 0 && below(mangle, 3) == 0;
    if (!copy)
        err(99, "mangle");
    memcpy(copy, body, len);
    for (unsigned i = 0; i < count; i++) {
        last = at;
        at += strlen((const char *)body + at) + 1 + 18;
        if (change && !drop && below(mangle, 3) == 0)
            put2(copy + at - 2, !get2(copy + at - 2)); /* text for binary */
        if (change && !drop && below(mangle, 3) == 0)
            put4(copy + at - 12, odd_number(mangle)); /* type */
    }
    mangle->drops_column = drop;
    if (drop)
        put2(copy, count - 1);
    emit_message(mangle, 'T', copy, drop ? last : len);
    free(copy);
}

/* ---- anything ---- */

static void go_wild(struct mangle *mangle, const unsigned char *message, size_t len) {
    static const char TYPES[] = "123ACDEGHIKNRSTVWZcdnstv";
    unsigned char *copy = malloc(len);
    if (!copy)
        err(99, "mangle");
    memcpy(copy, message, len);
    switch (below(mangle, 8)) {
    case 0: /* gone */
        free(copy);
        return;
    case 1: /* twice */
        emit(mangle, copy, len);
        break;
    case 2:
        copy[0] = (unsigned char)TYPES[below(mangle, sizeof(TYPES) - 1)];
        break;
    case 3:
        put4(copy + 1, odd_number(mangle));
        break;
    case 4:
        len -= below(mangle, len);
        mangle->is_over = true;
        break;
    case 5:
        len -= below(mangle, len);
        mangle->is_mute = true;
        break;
    default:
        for (uint64_t k = 1 + below(mangle, 4); k > 0; k--)
            copy[below(mangle, len)] = (unsigned char)below(mangle, 256);
    }
    emit(mangle, copy, len);
    free(copy);
}

static void pass(struct mangle *mangle, const unsigned char *message, size_t len) {
    char type = (char)message[0];
    bool is_calm = mangle->calm > 0, is_row = type == 'D' || type == 'T';
    bool change = !is_calm && below(mangle, is_row ? 3 : 12) == 0;
    mangle->calm -= is_calm;
    mangle->changed += change;
    if (type == 'C' || type == 'Z')
        mangle->drops_column = false;
    if (change && mangle->wild)
        go_wild(mangle, message, len);
    else if (type == 'D')
        pass_row(mangle, message + 5, len - 5, change);
    else if (type == 'T')
        pass_columns(mangle, message + 5, len - 5, change);
    else
        emit(mangle, message, len);
}

void mangle_init(struct mangle *mangle, uint64_t seed, uint64_t number) {
    *mangle = (struct mangle){.chance = seed ^ (number * UINT64_C(0x9e3779b97f4a7c15))};
    mangle->wild = below(mangle, 4) == 0;
    mangle->calm = 15 + (int64_t)below(mangle, 45); /* a login has about 17 */
}

void mangle_feed(struct mangle *mangle, const void *bytes, size_t len) {
    size_t at = 0;
    add(&mangle->in, &mangle->in_len, &mangle->in_size, bytes, len);
    while (!mangle->is_over && !mangle->is_mute && mangle->in_len - at >= 5) {
        size_t whole = (size_t)get4(mangle->in + at + 1) + 1;
        if (mangle->in_len - at < whole)
            break;
        pass(mangle, mangle->in + at, whole);
        at += whole;
    }
    memmove(mangle->in, mangle->in + at, mangle->in_len - at);
    mangle->in_len -= at;
}

void mangle_release(struct mangle *mangle) {
    free(mangle->in);
    free(mangle->out);
}
