/* A query against any SQLite file, which need not be a store. */
#include <sqlite3.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "store/open.h"

#define BUSY_MS 5000
#define LOOK_MS 20
#define STEPS_BETWEEN_LOOKS 100000
#define COLUMNS_MAX 8

static boxcar_status explain(sqlite3 *db, int rc, boxcar_error *err) {
    if (rc == SQLITE_NOMEM)
        return error_no_memory(err);
    if (rc == SQLITE_BUSY || rc == SQLITE_LOCKED || rc == SQLITE_IOERR || rc == SQLITE_CANTOPEN ||
        rc == SQLITE_INTERRUPT)
        return error_set(err, BOXCAR_E_UNAVAILABLE, "the control database cannot be read: %s",
                         sqlite3_errmsg(db));
    return error_invalid(err, "query", "the query cannot be run: %s", sqlite3_errmsg(db));
}

static boxcar_status take_row(sqlite3_stmt *statement, int count, store_row_fn *take, void *context,
                              boxcar_error *err) {
    boxcar_str columns[COLUMNS_MAX];
    for (int i = 0; i < count; i++) {
        const char *text = (const char *)sqlite3_column_text(statement, i);
        columns[i] = text ? (boxcar_str){text, (size_t)sqlite3_column_bytes(statement, i)} : BOXCAR_NO_STR;
    }
    return take(context, columns, count, err);
}

static boxcar_status run(sqlite3 *db, sqlite3_stmt *statement, int most_columns, store_row_fn *take,
                         void *context, boxcar_error *err) {
    int rc, count = sqlite3_column_count(statement);
    if (count == 0)
        return error_invalid(err, "query", "the query brings no rows: give a select");
    if (count > most_columns || count > COLUMNS_MAX)
        return error_invalid(err, "query", "the query has %d columns: give at most %d", count, most_columns);
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW)
        TRY(take_row(statement, count, take, context, err));
    return rc == SQLITE_DONE ? BOXCAR_OK : explain(db, rc & 0xff, err);
}

static boxcar_status ask(sqlite3 *db, boxcar_str query, int most_columns, store_row_fn *take, void *context,
                         boxcar_error *err) {
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(db, query.data, (int)query.len, &statement, NULL);
    boxcar_status status = rc != SQLITE_OK ? explain(db, rc & 0xff, err)
                           : !statement    ? error_invalid(err, "query", "the query is empty: give a select")
                                           : run(db, statement, most_columns, take, context, err);
    sqlite3_finalize(statement);
    return status;
}

/* ---- the end of it ---- */

struct patience {
    const atomic_bool *is_over;
    int64_t until_ms; /* somebody else's lock is waited for */
};

static int interrupt(void *context) {
    const struct patience *patience = context;
    return atomic_load(patience->is_over);
}

static int wait_for_lock(void *context, int calls) {
    struct patience *patience = context;
    if (calls == 0)
        patience->until_ms = clock_ms() + BUSY_MS;
    if (atomic_load(patience->is_over) || clock_ms() >= patience->until_ms)
        return 0;
    sqlite3_sleep(LOOK_MS);
    return 1;
}

boxcar_status store_sqlite_query(boxcar_str url, boxcar_str query, int most_columns,
                                 const atomic_bool *is_over, store_row_fn *take, void *context,
                                 boxcar_error *err) {
    size_t prefix = sizeof(STORE_URL_SQLITE) - 1;
    AUTO_FREE char *path = memory_copy_text((boxcar_str){url.data + prefix, url.len - prefix});
    sqlite3 *db = NULL;
    if (!path)
        return error_no_memory(err);
    int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    if (!db)
        return error_no_memory(err);
    struct patience patience = {.is_over = is_over};
    sqlite3_busy_handler(db, wait_for_lock, &patience);
    sqlite3_progress_handler(db, STEPS_BETWEEN_LOOKS, interrupt, &patience);
    boxcar_status status = rc == SQLITE_OK ? ask(db, query, most_columns, take, context, err)
                                           : error_set(err, BOXCAR_E_UNAVAILABLE, "cannot open %s: %s", path,
                                                       sqlite3_errmsg(db));
    sqlite3_close(db);
    return status;
}
