#include "query.h"

#include <string.h>

#include "base/error.h"
#include "base/uuid.h"
#include "store/sqlite/connection/connection.h"

static void prepare(struct query *query, enum statement statement, bool of_subscription) {
    AUTO_FREE char *text = statement_text(statement, of_subscription);
    query->rc = text == NULL ? SQLITE_NOMEM
                             : sqlite3_prepare_v3(query->store->db, text, -1, SQLITE_PREPARE_PERSISTENT,
                                                  &query->stmt, NULL);
}

struct query query_on(struct sqlite_store *store, enum statement statement) {
    const struct reader *reader = store->reader;
    sqlite3_stmt **kept = &store->statements[reader != NULL][statement];
    struct query query = {.store = store, .stmt = *kept, .rc = SQLITE_OK};
    if (query.stmt == NULL) {
        prepare(&query, statement, reader != NULL);
        *kept = query.stmt;
    }
    if (reader != NULL && query.rc == SQLITE_OK &&
        sqlite3_bind_parameter_count(query.stmt) == READER_PARAMETER)
        query.rc = sqlite3_bind_int64(query.stmt, READER_PARAMETER, reader->number);
    return query;
}

struct query query_once(struct sqlite_store *store, const char *sql) {
    struct query query = {.store = store, .once = true};
    query.rc = sqlite3_prepare_v2(store->db, sql, -1, &query.stmt, NULL);
    return query;
}

/* SQLite takes a text or an id that is NULL for null. */
static int bind(sqlite3_stmt *stmt, int at, const struct query_value *given) {
    switch (given->kind) {
    case QUERY_INT:
        return sqlite3_bind_int64(stmt, at, given->value.integer);
    case QUERY_NUMBER:
        return sqlite3_bind_double(stmt, at, given->value.number);
    case QUERY_TEXT:
        return sqlite3_bind_text64(stmt, at, given->value.text.data, given->value.text.len, SQLITE_STATIC,
                                   SQLITE_UTF8);
    case QUERY_ID:
        return sqlite3_bind_blob(stmt, at, uuid_is_nil(given->value.id) ? NULL : given->value.id, 16,
                                 SQLITE_STATIC);
    default:
        return given->value.integer == BOXCAR_TIME_NONE ? sqlite3_bind_null(stmt, at)
                                                        : sqlite3_bind_int64(stmt, at, given->value.integer);
    }
}

void query_bind(struct query *query, const struct query_value *values, size_t count) {
    for (size_t i = 0; query->rc == SQLITE_OK && i < count; i++)
        query->rc = bind(query->stmt, ++query->bound, &values[i]);
}

void query_pointer(struct query *query, const void *pointer, const char *type) {
    if (query->rc == SQLITE_OK)
        query->rc = sqlite3_bind_pointer(query->stmt, ++query->bound, (void *)pointer, type, NULL);
}

struct query query_start(struct sqlite_store *store, enum statement statement,
                         const struct query_value *values, size_t count) {
    struct query query = query_on(store, statement);
    query_bind(&query, values, count);
    return query;
}

boxcar_status query_execute(struct sqlite_store *store, enum statement statement, boxcar_error *err,
                            const struct query_value *values, size_t count) {
    struct query query = query_start(store, statement, values, count);
    return query_run(&query, err);
}

boxcar_status query_first_int(struct sqlite_store *store, enum statement statement, int64_t *ret_value,
                              boxcar_error *err, const struct query_value *values, size_t count) {
    AUTO_QUERY struct query query = query_start(store, statement, values, count);
    bool found = false;
    TRY(query_step(&query, &found, err));
    if (found)
        *ret_value = query_get_int(&query, 0);
    return BOXCAR_OK;
}

bool query_next(struct query *query) {
    if (query->rc != SQLITE_OK)
        return false;
    int rc = sqlite3_step(query->stmt);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        query->rc = rc;
    return rc == SQLITE_ROW;
}

boxcar_status query_status(const struct query *query, boxcar_error *err) {
    return query->rc == SQLITE_OK ? BOXCAR_OK : sqlite_error(query->store, query->rc, err);
}

boxcar_status query_step(struct query *query, bool *ret_row, boxcar_error *err) {
    bool row = query_next(query);
    TRY(query_status(query, err));
    *ret_row = row;
    return BOXCAR_OK;
}

boxcar_status query_run(struct query *query, boxcar_error *err) {
    query_next(query);
    boxcar_status status = query_status(query, err);
    query_end(query);
    return status;
}

void query_end(struct query *query) {
    if (query->once)
        sqlite3_finalize(query->stmt);
    else if (query->stmt != NULL)
        sqlite3_reset(query->stmt); /* repeats the step's error, which is reported already */
    query->stmt = NULL;
}

bool query_is_null(const struct query *query, int column) {
    return sqlite3_column_type(query->stmt, column) == SQLITE_NULL;
}

int64_t query_get_int(const struct query *query, int column) {
    return sqlite3_column_int64(query->stmt, column);
}

boxcar_time query_get_time(const struct query *query, int column) {
    return query_is_null(query, column) ? BOXCAR_TIME_NONE : query_get_int(query, column);
}

boxcar_str query_get_text(const struct query *query, int column) {
    const char *data = (const char *)sqlite3_column_text(query->stmt, column);
    return (boxcar_str){data, data == NULL ? 0 : (size_t)sqlite3_column_bytes(query->stmt, column)};
}

void query_get_id(const struct query *query, int column, uint8_t ret_bytes[16]) {
    const void *data = sqlite3_column_blob(query->stmt, column);
    if (data != NULL && sqlite3_column_bytes(query->stmt, column) == 16)
        memcpy(ret_bytes, data, 16);
    else
        memset(ret_bytes, 0, 16);
}

boxcar_status query_copy_text(struct query *query, int column, struct arena *arena, boxcar_str *ret_text,
                              boxcar_error *err) {
    boxcar_str text = query_get_text(query, column);
    /* Absent although not null: SQLite had no memory for it. */
    bool unread = text.data == NULL && !query_is_null(query, column);
    return !unread && arena_copy_str(arena, text, ret_text) ? BOXCAR_OK : error_no_memory(err);
}
