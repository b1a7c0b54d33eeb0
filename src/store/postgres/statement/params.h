/* Parameters of a query in PostgreSQL's binary formats. */
#ifndef BOXCAR_STORE_POSTGRES_STATEMENT_PARAMS_H
#define BOXCAR_STORE_POSTGRES_STATEMENT_PARAMS_H

#include <libpq-fe.h>

#include "base/buf.h"
#include "boxcar/types.h"

#define PG_PARAMS_MAX 20

/* Oids of pg_type are fixed for built-in types. */
enum pg_type {
    PG_BOOL = 16,
    PG_INT8 = 20,
    PG_INT2 = 21,
    PG_INT4 = 23,
    PG_TEXT = 25,
    PG_FLOAT8 = 701,
    PG_BOOL_ARRAY = 1000,
    PG_INT4_ARRAY = 1007,
    PG_TEXT_ARRAY = 1009,
    PG_INT8_ARRAY = 1016,
    PG_TIMESTAMPTZ = 1184,
    PG_TIMESTAMPTZ_ARRAY = 1185,
    PG_INTERVAL = 1186,
    PG_UUID = 2950,
    PG_VOID = 2278,
    PG_UUID_ARRAY = 2951
};

/* Filled by the functions below in the order of $1, $2, ...; released once. A failure to
 * allocate is remembered and found by pg_params_failed(). */
struct pg_params {
    int count;
    Oid types[PG_PARAMS_MAX];
    struct buf values[PG_PARAMS_MAX];
    bool is_null[PG_PARAMS_MAX];
    boxcar_str borrowed[PG_PARAMS_MAX]; /* text that is sent from where it is */
};

#define PG_PARAMS_INIT ((struct pg_params){.count = 0})

void pg_params_null(struct pg_params *params, enum pg_type type);
void pg_params_bool(struct pg_params *params, bool value);
void pg_params_int2(struct pg_params *params, int value);
void pg_params_int4(struct pg_params *params, int value);
void pg_params_int8(struct pg_params *params, int64_t value);
void pg_params_float8(struct pg_params *params, double value);
void pg_params_text(struct pg_params *params, boxcar_str text); /* absent = null; borrowed */
void pg_params_uuid(struct pg_params *params, const uint8_t uuid[16]);
void pg_params_time(struct pg_params *params, boxcar_time time); /* BOXCAR_TIME_NONE = null */
void pg_params_interval_ms(struct pg_params *params, int64_t ms);

/* One-dimensional arrays: begin, then `count` elements, each by one of the functions. */
struct buf *pg_params_array_begin(struct pg_params *params, enum pg_type array_type, size_t count);
void pg_array_bool(struct buf *array, bool value);
void pg_array_int4(struct buf *array, int value); /* 0 = null */
void pg_array_int8(struct buf *array, int64_t value);
void pg_array_text(struct buf *array, boxcar_str text);        /* absent = null */
void pg_array_uuid(struct buf *array, const uint8_t uuid[16]); /* nil = null */
void pg_array_time(struct buf *array, boxcar_time time);       /* BOXCAR_TIME_NONE = null */

bool pg_params_failed(const struct pg_params *params);
void pg_params_release(struct pg_params *params);
#define AUTO_PARAMS __attribute__((cleanup(pg_params_release)))

/* PostgreSQL counts microseconds from the year 2000. */
#define PG_EPOCH_OFFSET_US INT64_C(946684800000000)

#endif
