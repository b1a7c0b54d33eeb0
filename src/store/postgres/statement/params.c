#include "params.h"

#include <string.h>

#include "base/uuid.h"

static struct buf *add(struct pg_params *params, enum pg_type type) {
    int i = params->count++;

    params->types[i] = (Oid)type;
    params->values[i] = BUF_INIT;
    params->is_null[i] = false;
    params->borrowed[i] = BOXCAR_NO_STR;
    return &params->values[i];
}

void pg_params_null(struct pg_params *params, enum pg_type type) {
    add(params, type);
    params->is_null[params->count - 1] = true;
}

void pg_params_bool(struct pg_params *params, bool value) {
    buf_append_char(add(params, PG_BOOL), value ? 1 : 0);
}

void pg_params_int2(struct pg_params *params, int value) {
    buf_append_u16(add(params, PG_INT2), (uint16_t)value);
}

void pg_params_int4(struct pg_params *params, int value) {
    buf_append_u32(add(params, PG_INT4), (uint32_t)value);
}

void pg_params_int8(struct pg_params *params, int64_t value) {
    buf_append_u64(add(params, PG_INT8), (uint64_t)value);
}

void pg_params_float8(struct pg_params *params, double value) {
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    buf_append_u64(add(params, PG_FLOAT8), bits);
}

void pg_params_text(struct pg_params *params, boxcar_str text) {
    if (!text.data) {
        pg_params_null(params, PG_TEXT);
        return;
    }
    add(params, PG_TEXT);
    params->borrowed[params->count - 1] = text;
}

void pg_params_uuid(struct pg_params *params, const uint8_t uuid[16]) {
    buf_append(add(params, PG_UUID), uuid, 16);
}

void pg_params_time(struct pg_params *params, boxcar_time time) {
    if (time == BOXCAR_TIME_NONE)
        pg_params_null(params, PG_TIMESTAMPTZ);
    else
        buf_append_u64(add(params, PG_TIMESTAMPTZ), (uint64_t)(time - PG_EPOCH_OFFSET_US));
}

void pg_params_interval_ms(struct pg_params *params, int64_t ms) {
    struct buf *value = add(params, PG_INTERVAL);

    buf_append_u64(value, (uint64_t)(ms * 1000));
    buf_append_u32(value, 0); /* days */
    buf_append_u32(value, 0); /* months */
}

static uint32_t element_type(enum pg_type array_type) {
    switch (array_type) {
    case PG_BOOL_ARRAY:
        return PG_BOOL;
    case PG_INT4_ARRAY:
        return PG_INT4;
    case PG_INT8_ARRAY:
        return PG_INT8;
    case PG_UUID_ARRAY:
        return PG_UUID;
    case PG_TIMESTAMPTZ_ARRAY:
        return PG_TIMESTAMPTZ;
    default:
        return PG_TEXT;
    }
}

struct buf *pg_params_array_begin(struct pg_params *params, enum pg_type array_type, size_t count) {
    struct buf *value = add(params, array_type);

    buf_append_u32(value, count > 0 ? 1 : 0); /* dimensions */
    buf_append_u32(value, 1);                 /* may hold nulls */
    buf_append_u32(value, element_type(array_type));
    if (count > 0) {
        buf_append_u32(value, (uint32_t)count);
        buf_append_u32(value, 1); /* lower bound */
    }
    return value;
}

static void append_null(struct buf *array) { buf_append_u32(array, UINT32_MAX); }

void pg_array_bool(struct buf *array, bool value) {
    buf_append_u32(array, 1);
    buf_append_char(array, value ? 1 : 0);
}

void pg_array_int4(struct buf *array, int value) {
    if (value == 0) {
        append_null(array);
        return;
    }
    buf_append_u32(array, 4);
    buf_append_u32(array, (uint32_t)value);
}

void pg_array_int8(struct buf *array, int64_t value) {
    buf_append_u32(array, 8);
    buf_append_u64(array, (uint64_t)value);
}

void pg_array_text(struct buf *array, boxcar_str text) {
    if (!text.data) {
        append_null(array);
        return;
    }
    buf_append_u32(array, (uint32_t)text.len);
    buf_append(array, text.data, text.len);
}

void pg_array_uuid(struct buf *array, const uint8_t uuid[16]) {
    if (uuid_is_nil(uuid)) {
        append_null(array);
        return;
    }
    buf_append_u32(array, 16);
    buf_append(array, uuid, 16);
}

void pg_array_time(struct buf *array, boxcar_time time) {
    if (time == BOXCAR_TIME_NONE)
        append_null(array);
    else
        pg_array_int8(array, time - PG_EPOCH_OFFSET_US);
}

bool pg_params_failed(const struct pg_params *params) {
    for (int i = 0; i < params->count; i++)
        if (params->values[i].failed)
            return true;
    return false;
}

void pg_params_release(struct pg_params *params) {
    for (int i = 0; i < params->count; i++)
        buf_release(&params->values[i]);
    params->count = 0;
}
