/* Parameters of a statement, in PostgreSQL's binary formats. */
#ifndef BOXCAR_STORE_POSTGRES_STATEMENT_PARAMS_H
#define BOXCAR_STORE_POSTGRES_STATEMENT_PARAMS_H

#include <libpq-fe.h>
#include <stddef.h>

#include "base/buf.h"
#include "boxcar/types.h"
#include "core/topic.h"

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

/* One member of each struct of an array. */
struct pg_column {
    const void *items;
    size_t count, item_size, offset;
};

/* A parameter as a call names it. */
struct pg_value {
    enum pg_type type;
    bool is_null;
    union {
        int64_t number; /* of a time: boxcar_time; of an interval: milliseconds */
        double float8;
        boxcar_str text;
        const uint8_t *uuid;
        struct pg_column column;
    } value;
};
#define P_NULL(of_type) ((struct pg_value){.type = (of_type), .is_null = true})
#define P_BOOL(given) ((struct pg_value){PG_BOOL, .value.number = (given)})
#define P_INT2(given) ((struct pg_value){PG_INT2, .value.number = (given)})
#define P_INT4(given) ((struct pg_value){PG_INT4, .value.number = (given)})
#define P_INT8(given) ((struct pg_value){PG_INT8, .value.number = (given)})
#define P_FLOAT8(given) ((struct pg_value){PG_FLOAT8, .value.float8 = (given)})
#define P_TEXT(given) ((struct pg_value){PG_TEXT, .value.text = (given)}) /* absent = null */
#define P_TIME(given)                                                                                        \
    ((struct pg_value){PG_TIMESTAMPTZ, .value.number = (given)}) /* BOXCAR_TIME_NONE = null */
#define P_MS(given) ((struct pg_value){PG_INTERVAL, .value.number = (given)})
#define P_ID(given) ((struct pg_value){PG_UUID, .value.uuid = (given).uuid.bytes})
#define P_INT8_OR_NULL(given) ((given) > 0 ? P_INT8(given) : P_NULL(PG_INT8))
#define P_MS_OR_NULL(given) ((given) != 0 ? P_MS(given) : P_NULL(PG_INTERVAL))
#define P_ID_OR_NULL(given) (boxcar_uuid_is_none((given).uuid) ? P_NULL(PG_UUID) : P_ID(given))
/* An array of the member of each struct; a null where the id, the text or the time is none, or an int4 is 0.
 */
#define P_COLUMN(array_type, items, count, member)                                                           \
    ((struct pg_value){array_type, .value.column = {(items), (count), sizeof(*(items)),                      \
                                                    offsetof(__typeof__(*(items)), member)}})
/* Two parameters: work id and message id, one of them null. */
#define P_REF(ref)                                                                                           \
    P_INT8_OR_NULL((ref).work_id.value), (ref).work_id.value > 0 ? P_NULL(PG_UUID) : P_ID((ref).message_id)
/* Two: the topic or the prefix, and whether it is a prefix. Absent = null. */
#define P_TOPIC(topic) P_TEXT(pg_topic_stem(topic)), P_BOOL(topic_is_prefix_pattern(topic))
boxcar_str pg_topic_stem(boxcar_str topic);

#define PG_VALUES(...)                                                                                       \
    (const struct pg_value[]){__VA_ARGS__},                                                                  \
        sizeof((const struct pg_value[]){__VA_ARGS__}) / sizeof(struct pg_value)

/* Filled in the order of $1, $2, ...; released once. It is not copied: its values may be in it. A failure to
 * allocate is remembered by the array's buffer and found by pg_send(). */
struct pg_params {
    int count;
    Oid types[PG_PARAMS_MAX];
    boxcar_str values[PG_PARAMS_MAX]; /* texts are borrowed; absent = null, or an array: */
    struct buf arrays[PG_PARAMS_MAX];
    char fixed[PG_PARAMS_MAX][16]; /* values of a fixed size */
};
#define PG_PARAMS_INIT ((struct pg_params){.count = 0})
void pg_params_release(struct pg_params *params);
#define AUTO_PARAMS __attribute__((cleanup(pg_params_release)))

/* pg_params_add(params, P_INT8(..), ...) */
#define pg_params_add(params, ...) pg_params_append((params), PG_VALUES(__VA_ARGS__))
void pg_params_append(struct pg_params *params, const struct pg_value *values, size_t count);

/* An array that is no column: begin, then `count` elements. */
struct buf *pg_params_array_begin(struct pg_params *params, enum pg_type array_type, size_t count);
void pg_array_int8(struct buf *array, int64_t value);
void pg_array_text(struct buf *array, boxcar_str text);        /* absent = null */
void pg_array_uuid(struct buf *array, const uint8_t uuid[16]); /* nil = null */

/* Two parameters: exact topics, and prefixes without their *; both null = every topic. */
void pg_params_topics(struct pg_params *params, const boxcar_str *topics, size_t count);
/* The same for what is kept in rows: every topic is the empty prefix there, nothing is null. */
void pg_params_patterns(struct pg_params *params, const boxcar_str *topics, size_t count);

/* PostgreSQL counts microseconds from the year 2000. */
#define PG_EPOCH_OFFSET_US INT64_C(946684800000000)

#endif
