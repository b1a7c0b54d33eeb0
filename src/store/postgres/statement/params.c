#include "params.h"

#include <endian.h>
#include <string.h>

#include "base/utf8.h"
#include "base/uuid.h"

/* The least significant bytes of a number, in the order of the network. */
static boxcar_str put_number(char fixed[16], int64_t number, size_t size) {
    uint64_t bytes = htobe64((uint64_t)number << (64 - 8 * size));

    memcpy(fixed, &bytes, size);
    return (boxcar_str){fixed, size};
}

/* The bytes that are sent; absent = null. */
static boxcar_str encode(const struct pg_value *given, char fixed[16]) {
    int64_t number = given->value.number;

    if (given->is_null)
        return BOXCAR_NO_STR;
    switch (given->type) {
    case PG_TEXT:
        return given->value.text;
    case PG_BOOL:
        return put_number(fixed, number != 0, 1);
    case PG_INT2:
        return put_number(fixed, number, 2);
    case PG_INT4:
        return put_number(fixed, number, 4);
    case PG_FLOAT8:
        memcpy(&number, &given->value.float8, sizeof(number));
        return put_number(fixed, number, 8);
    case PG_TIMESTAMPTZ:
        return number == BOXCAR_TIME_NONE ? BOXCAR_NO_STR : put_number(fixed, number - PG_EPOCH_OFFSET_US, 8);
    case PG_INTERVAL:
        put_number(fixed, number * 1000, 8);
        memset(fixed + 8, 0, 8); /* days and months */
        return (boxcar_str){fixed, 16};
    case PG_UUID:
        memcpy(fixed, given->value.uuid, 16);
        return (boxcar_str){fixed, 16};
    default:
        return put_number(fixed, number, 8);
    }
}

/* ---- arrays ---- */

/* The type of its elements; 0 = it is no array. */
static uint32_t element_type(enum pg_type type) {
    switch (type) {
    case PG_BOOL_ARRAY:
        return PG_BOOL;
    case PG_INT4_ARRAY:
        return PG_INT4;
    case PG_INT8_ARRAY:
        return PG_INT8;
    case PG_UUID_ARRAY:
        return PG_UUID;
    case PG_TEXT_ARRAY:
        return PG_TEXT;
    case PG_TIMESTAMPTZ_ARRAY:
        return PG_TIMESTAMPTZ;
    default:
        return 0;
    }
}

static int next(struct pg_params *params, enum pg_type type) {
    int i = params->count++;

    params->types[i] = (Oid)type;
    params->values[i] = BOXCAR_NO_STR;
    params->arrays[i] = BUF_INIT;
    return i;
}

struct buf *pg_params_array_begin(struct pg_params *params, enum pg_type array_type, size_t count) {
    struct buf *array = &params->arrays[next(params, array_type)];

    buf_append_u32(array, count > 0 ? 1 : 0); /* dimensions */
    buf_append_u32(array, 1);                 /* may hold nulls */
    buf_append_u32(array, element_type(array_type));
    if (count > 0) {
        buf_append_u32(array, (uint32_t)count);
        buf_append_u32(array, 1); /* lower bound */
    }
    return array;
}

static void append_element(struct buf *array, const void *bytes, size_t len) {
    buf_append_u32(array, bytes ? (uint32_t)len : UINT32_MAX); /* or null */
    buf_append(array, bytes, bytes ? len : 0);
}

void pg_array_int8(struct buf *array, int64_t value) {
    buf_append_u32(array, 8);
    buf_append_u64(array, (uint64_t)value);
}

void pg_array_text(struct buf *array, boxcar_str text) { append_element(array, text.data, text.len); }

void pg_array_uuid(struct buf *array, const uint8_t uuid[16]) {
    append_element(array, uuid_is_nil(uuid) ? NULL : uuid, 16);
}

static void append_member(struct buf *array, enum pg_type array_type, const void *member) {
    struct pg_value value;
    char fixed[16];

    switch (array_type) {
    case PG_TEXT_ARRAY:
        pg_array_text(array, *(const boxcar_str *)member);
        return;
    case PG_UUID_ARRAY:
        pg_array_uuid(array, member);
        return;
    case PG_BOOL_ARRAY:
        value = P_BOOL(*(const bool *)member);
        break;
    case PG_INT4_ARRAY:
        value = *(const int *)member ? P_INT4(*(const int *)member) : P_NULL(PG_INT4);
        break;
    case PG_TIMESTAMPTZ_ARRAY:
        value = P_TIME(*(const boxcar_time *)member);
        break;
    default:
        pg_array_int8(array, *(const int64_t *)member);
        return;
    }
    boxcar_str bytes = encode(&value, fixed);
    append_element(array, bytes.data, bytes.len);
}

static void append_column(struct pg_params *params, enum pg_type array_type, const struct pg_column *column) {
    struct buf *array = pg_params_array_begin(params, array_type, column->count);

    for (size_t i = 0; i < column->count; i++)
        append_member(array, array_type,
                      (const char *)column->items + i * column->item_size + column->offset);
}

void pg_params_append(struct pg_params *params, const struct pg_value *values, size_t count) {
    for (const struct pg_value *value = values; value < values + count; value++) {
        if (element_type(value->type) && !value->is_null) {
            append_column(params, value->type, &value->value.column);
            continue;
        }
        int i = next(params, value->type);
        params->values[i] = encode(value, params->fixed[i]);
    }
}

void pg_params_release(struct pg_params *params) {
    for (int i = 0; i < params->count; i++)
        buf_release(&params->arrays[i]);
    params->count = 0;
}

/* ---- choosing messages by their topics ---- */

boxcar_str pg_topic_stem(boxcar_str topic) {
    return (boxcar_str){topic.data, topic.len - topic_is_prefix_pattern(topic)};
}

static void add_topics(struct pg_params *params, const boxcar_str *topics, size_t count, bool prefixes) {
    size_t chosen = 0;

    for (size_t i = 0; i < count; i++)
        chosen += topic_is_prefix_pattern(topics[i]) == prefixes;
    struct buf *array = pg_params_array_begin(params, PG_TEXT_ARRAY, chosen);
    for (size_t i = 0; i < count; i++)
        if (topic_is_prefix_pattern(topics[i]) == prefixes)
            pg_array_text(array, pg_topic_stem(topics[i]));
}

void pg_params_patterns(struct pg_params *params, const boxcar_str *topics, size_t count) {
    static const boxcar_str every = {"*", 1};

    if (count == 0) {
        topics = &every;
        count = 1;
    }
    add_topics(params, topics, count, false);
    add_topics(params, topics, count, true);
}

void pg_params_topics(struct pg_params *params, const boxcar_str *topics, size_t count) {
    bool everything = count == 0;

    for (size_t i = 0; i < count; i++)
        everything = everything || str_equal(topics[i], BOXCAR_STR("*"));
    if (everything)
        pg_params_add(params, P_NULL(PG_TEXT_ARRAY), P_NULL(PG_TEXT_ARRAY));
    else
        pg_params_patterns(params, topics, count);
}
