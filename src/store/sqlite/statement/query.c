#include "query.h"

#include <string.h>

#include "base/error.h"
#include "base/uuid.h"
#include "store/sqlite/connection/connection.h"

struct query query_on(struct sqlite_store *store, enum statement statement) {
    struct query query = {.store = store, .stmt = store->statements[statement], .rc = SQLITE_OK};
    if (query.stmt != NULL)
        return query;
    query.rc = sqlite3_prepare_v3(store->db, STATEMENT_SQL[statement], -1, SQLITE_PREPARE_PERSISTENT,
                                  &query.stmt, NULL);
    store->statements[statement] = query.stmt;
    return query;
}

static void note(struct query *query, int rc) {
    if (query->rc == SQLITE_OK)
        query->rc = rc;
}

void query_int(struct query *query, int64_t value) {
    if (query->rc == SQLITE_OK)
        note(query, sqlite3_bind_int64(query->stmt, ++query->bound, value));
}

void query_number(struct query *query, double value) {
    if (query->rc == SQLITE_OK)
        note(query, sqlite3_bind_double(query->stmt, ++query->bound, value));
}

static void query_null(struct query *query) {
    if (query->rc == SQLITE_OK)
        note(query, sqlite3_bind_null(query->stmt, ++query->bound));
}

void query_text(struct query *query, boxcar_str text) {
    if (text.data == NULL) {
        query_null(query);
        return;
    }
    if (query->rc == SQLITE_OK)
        note(query, sqlite3_bind_text64(query->stmt, ++query->bound, text.data, text.len, SQLITE_STATIC,
                                        SQLITE_UTF8));
}

void query_id(struct query *query, const uint8_t bytes[16]) {
    if (uuid_is_nil(bytes)) {
        query_null(query);
        return;
    }
    if (query->rc == SQLITE_OK)
        note(query, sqlite3_bind_blob(query->stmt, ++query->bound, bytes, 16, SQLITE_STATIC));
}

void query_pointer(struct query *query, const void *pointer, const char *type) {
    if (query->rc == SQLITE_OK)
        note(query, sqlite3_bind_pointer(query->stmt, ++query->bound, (void *)pointer, type, NULL));
}

void query_time(struct query *query, boxcar_time time) {
    if (time == BOXCAR_TIME_NONE)
        query_null(query);
    else
        query_int(query, time);
}

static void bind(struct query *query, const struct query_value *value) {
    switch (value->kind) {
    case QUERY_INT:
        query_int(query, value->value.integer);
        break;
    case QUERY_NUMBER:
        query_number(query, value->value.number);
        break;
    case QUERY_TEXT:
        query_text(query, value->value.text);
        break;
    case QUERY_ID:
        query_id(query, value->value.id);
        break;
    case QUERY_TIME:
        query_time(query, value->value.integer);
        break;
    }
}

void query_bind(struct query *query, const struct query_value *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        bind(query, &values[i]);
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
    bool row;
    boxcar_status status = query_step(query, &row, err);
    query_end(query);
    return status;
}

void query_end(struct query *query) {
    if (query->stmt != NULL)
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
    if (text.data == NULL && !query_is_null(query, column))
        return error_no_memory(err);
    if (!arena_copy_str(arena, text, ret_text))
        return error_no_memory(err);
    return BOXCAR_OK;
}
