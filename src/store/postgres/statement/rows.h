/* Answers: checked first (shape.c), then read (rows.c). */
#ifndef BOXCAR_STORE_POSTGRES_STATEMENT_ROWS_H
#define BOXCAR_STORE_POSTGRES_STATEMENT_ROWS_H

#include <endian.h>
#include <string.h>

#include "store/postgres/state.h"

/* A statement's answer has the columns and rows that its shape says (statement.h), each field of its type and
 * length. Else BOXCAR_E_STORE; the connection is given up, and whether the statement took effect is not
 * known. */
boxcar_status pg_check_answer(struct pg_store *pg, enum pg_statement statement, const PGresult *result,
                              boxcar_error *err);
/* The same for what no shape says. */
boxcar_status pg_malformed(struct pg_store *pg, const char *why, boxcar_error *err);

/* The first bytes as a number. */
static inline uint32_t pg_u32(const char *bytes) {
    uint32_t value;

    memcpy(&value, bytes, sizeof(value));
    return be32toh(value);
}

/* Fields of an answer that was found good. */

int64_t pg_get_int8(const PGresult *result, int row, int column);
int pg_get_int4(const PGresult *result, int row, int column);
int pg_get_int2(const PGresult *result, int row, int column);
bool pg_get_bool(const PGresult *result, int row, int column);
double pg_get_float8(const PGresult *result, int row, int column);
boxcar_time pg_get_time(const PGresult *result, int row, int column);
boxcar_str pg_get_text(const PGresult *result, int row, int column); /* lent by the result */
void pg_get_uuid(const PGresult *result, int row, int column, uint8_t ret_uuid[16]);
/* Arrays in one field: how many items, the i-th uuid, all of an int8[]. */
size_t pg_get_count(const PGresult *result, int row, int column);
void pg_get_uuid_at(const PGresult *result, int row, int column, size_t i, uint8_t ret_uuid[16]);
boxcar_status pg_get_work_ids(const PGresult *result, int row, int column, struct arena *arena,
                              struct work_id_list *ret_list, boxcar_error *err);

/* A row of a claim, and one of any message, into zeroed memory as arenas give it. Texts are lent by `result`,
 * which the caller attaches to the arena the messages live in. */
void pg_read_claimed(const PGresult *result, int row, boxcar_message *ret_message);
void pg_read_message(const PGresult *result, int row, void *ret_message);
/* The arena takes the result over, or it is cleared and false is returned (no memory). */
bool pg_attach_result(struct arena *arena, PGresult *result);
/* All rows as an array in the arena, zeroed before they are read, which takes the result over too; NULL = no
 * memory. */
typedef void pg_read_fn(const PGresult *result, int row, void *item);
void *pg_read_rows(PGresult *result, struct arena *arena, size_t item_size, pg_read_fn *read);
/* All rows as one of the lists of store/store.h, which begin all alike (struct pg_list). It takes the result
 * over, also on failure. */
struct pg_list_kind {
    pg_read_fn *read;
    size_t list_size, item_size;
};
#define PG_LIST_KIND(read, ret_list)                                                                         \
    ((struct pg_list_kind){(read), sizeof(**(ret_list)), sizeof(*(*(ret_list))->items)})
boxcar_status pg_rows_into_list(PGresult *result, struct pg_list_kind kind, void *ret_list,
                                boxcar_error *err);

#endif
