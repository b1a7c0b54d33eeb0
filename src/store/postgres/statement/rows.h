/* Reading binary results that pg_check_answer() has found good. */
#ifndef BOXCAR_STORE_POSTGRES_STATEMENT_ROWS_H
#define BOXCAR_STORE_POSTGRES_STATEMENT_ROWS_H

#include "store/postgres/state.h"

int64_t pg_get_int8(const PGresult *result, int row, int column);
int pg_get_int4(const PGresult *result, int row, int column);
int pg_get_int2(const PGresult *result, int row, int column);
bool pg_get_bool(const PGresult *result, int row, int column);
double pg_get_float8(const PGresult *result, int row, int column);
boxcar_time pg_get_time(const PGresult *result, int row, int column);
boxcar_str pg_get_text(const PGresult *result, int row, int column); /* lent by the result */
void pg_get_uuid(const PGresult *result, int row, int column, uint8_t ret_uuid[16]);
/* An int8[] in one field. */
boxcar_status pg_get_work_ids(const PGresult *result, int row, int column, struct arena *arena,
                              struct work_id_list *ret_list, boxcar_error *err);
/* An array of uuids: how many, and the i-th. */
size_t pg_get_uuid_count(const PGresult *result, int row, int column);
void pg_get_uuid_at(const PGresult *result, int row, int column, size_t i, uint8_t ret_uuid[16]);

/* Rows of claimed_message and of _item. Texts are lent by `result`, which the caller attaches to
 * the arena the messages live in. */
void pg_read_claimed(const PGresult *result, int row, boxcar_message *ret_message);
void pg_read_item(const PGresult *result, int row, boxcar_message *ret_message);
/* The arena takes the result over, or it is cleared and false is returned (no memory). */
bool pg_attach_result(struct arena *arena, PGresult *result);
/* All rows as an array in the arena, which takes the result over too; NULL = no memory. */
typedef void pg_read_fn(const PGresult *result, int row, void *item);
void *pg_read_rows(PGresult *result, struct arena *arena, size_t item_size, pg_read_fn *read);
/* All rows as one of the lists of store/store.h, which begin all alike (struct pg_list). It takes the result
 * over, also on failure. */
#define PG_INTO_LIST(result, read, ret_list, err)                                                            \
    pg_rows_into_list((result), (read), sizeof(**(ret_list)), sizeof(*(*(ret_list))->items), (ret_list),     \
                      (err))
boxcar_status pg_rows_into_list(PGresult *result, pg_read_fn *read, size_t list_size, size_t item_size,
                                void *ret_list, boxcar_error *err);
/* The same with rows of _item. */
boxcar_status pg_items_into_list(PGresult *result, struct message_rows **ret_list, boxcar_error *err);

#endif
