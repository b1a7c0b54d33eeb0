/* Many messages into the log by one statement.
 *
 * A statement for each message opens and closes its cursors each time, and finds the end of the table and of
 * the index anew: half of what an insert costs. One INSERT ... SELECT does that once. Its source is the array
 * of messages itself, seen as a virtual table; the array travels as a pointer, which only C code can make. */
#include "bulk.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "park.h"
#include "store/sqlite/connection/connection.h"

#define MODULE_NAME "boxcar_new_messages"
#define POINTER_TYPE "boxcar_bulk"

/* The columns as S_MESSAGE_INSERT_MANY names them. */
#define COLUMNS                                                                                              \
    "create table messages (message_id, box, lane, topic, stream, correlation_id, headers, created_at, "     \
    "due_at, max_attempts, payload, causation_id, metadata, bulk hidden)"
enum column {
    C_MESSAGE_ID,
    C_BOX,
    C_LANE,
    C_TOPIC,
    C_STREAM,
    C_CORRELATION_ID,
    C_HEADERS,
    C_CREATED_AT,
    C_DUE_AT,
    C_MAX_ATTEMPTS,
    C_PAYLOAD,
    C_CAUSATION_ID,
    C_METADATA,
    C_BULK
};

/* Where the texts are in a message. */
static const size_t TEXTS[] = {[C_TOPIC] = offsetof(boxcar_new_message, topic),
                               [C_STREAM] = offsetof(boxcar_new_message, stream),
                               [C_CORRELATION_ID] = offsetof(boxcar_new_message, correlation_id),
                               [C_HEADERS] = offsetof(boxcar_new_message, headers),
                               [C_PAYLOAD] = offsetof(boxcar_new_message, payload),
                               [C_CAUSATION_ID] = offsetof(boxcar_new_message, causation_id),
                               [C_METADATA] = offsetof(boxcar_new_message, metadata)};

struct cursor {
    sqlite3_vtab_cursor base;
    const struct bulk *bulk;
    size_t at;
};

static int connect_table(sqlite3 *db, void *context, int count, const char *const *texts,
                         sqlite3_vtab **ret_table, char **ret_error) {
    (void)context, (void)count, (void)texts, (void)ret_error;
    int rc = sqlite3_declare_vtab(db, COLUMNS);
    if (rc != SQLITE_OK)
        return rc;
    *ret_table = calloc(1, sizeof(**ret_table));
    return *ret_table != NULL ? SQLITE_OK : SQLITE_NOMEM;
}

static int disconnect_table(sqlite3_vtab *table) {
    free(table);
    return SQLITE_OK;
}

/* The pointer is the only thing that a query can ask by, and it must. */
static int choose_plan(sqlite3_vtab *table, sqlite3_index_info *info) {
    (void)table;
    for (int i = 0; i < info->nConstraint; i++) {
        if (info->aConstraint[i].iColumn != C_BULK || !info->aConstraint[i].usable ||
            info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        info->aConstraintUsage[i].argvIndex = 1;
        info->aConstraintUsage[i].omit = 1;
        info->estimatedCost = 1000;
        info->estimatedRows = 1000;
        return SQLITE_OK;
    }
    return SQLITE_CONSTRAINT;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **ret_cursor) {
    (void)table;
    struct cursor *cursor = calloc(1, sizeof(*cursor));
    if (cursor == NULL)
        return SQLITE_NOMEM;
    *ret_cursor = &cursor->base;
    return SQLITE_OK;
}

static struct cursor *cursor_of(sqlite3_vtab_cursor *base) { return (struct cursor *)base; }

static int close_cursor(sqlite3_vtab_cursor *base) {
    free(cursor_of(base));
    return SQLITE_OK;
}

static int start(sqlite3_vtab_cursor *base, int plan, const char *text, int count, sqlite3_value **values) {
    (void)plan, (void)text;
    cursor_of(base)->bulk = count == 1 ? sqlite3_value_pointer(values[0], POINTER_TYPE) : NULL;
    cursor_of(base)->at = 0;
    return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base) {
    cursor_of(base)->at++;
    return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *base) {
    const struct cursor *cursor = cursor_of(base);
    return cursor->bulk == NULL || cursor->at >= cursor->bulk->count;
}

static void give_text(sqlite3_context *to, boxcar_str text) {
    if (text.data != NULL) /* else null, as every result is at first */
        sqlite3_result_text64(to, text.data, text.len, SQLITE_STATIC, SQLITE_UTF8);
}

static int give_column(sqlite3_vtab_cursor *base, sqlite3_context *to, int number) {
    const struct bulk *bulk = cursor_of(base)->bulk;
    const boxcar_new_message *message = &bulk->messages[cursor_of(base)->at];
    switch (number) {
    case C_MESSAGE_ID:
        sqlite3_result_blob(to, message->message_id.uuid.bytes, sizeof(message->message_id.uuid.bytes),
                            SQLITE_STATIC);
        break;
    case C_BOX:
        sqlite3_result_int(to, (int)bulk->box);
        break;
    case C_LANE:
        sqlite3_result_int(to, str_is_empty(message->stream) ? LANE_PLAIN : LANE_STREAMED);
        break;
    case C_CREATED_AT:
        sqlite3_result_int64(to, bulk->now);
        break;
    case C_DUE_AT:
        if (message->due_at != BOXCAR_TIME_NONE)
            sqlite3_result_int64(to, message->due_at);
        break;
    case C_MAX_ATTEMPTS:
        if (message->max_attempts > 0)
            sqlite3_result_int(to, message->max_attempts);
        break;
    case C_BULK:
        break;
    default:
        give_text(to, *(const boxcar_str *)((const char *)message + TEXTS[number]));
    }
    return SQLITE_OK;
}

static int give_row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *ret_id) {
    *ret_id = cursor_of(base)->bulk->first_id + (int64_t)cursor_of(base)->at;
    return SQLITE_OK;
}

/* Without xCreate it exists by its name alone and leaves nothing in the file. */
static const sqlite3_module MODULE = {.xConnect = connect_table,
                                      .xBestIndex = choose_plan,
                                      .xDisconnect = disconnect_table,
                                      .xOpen = open_cursor,
                                      .xClose = close_cursor,
                                      .xFilter = start,
                                      .xNext = next,
                                      .xEof = is_at_end,
                                      .xColumn = give_column,
                                      .xRowid = give_row_id};

boxcar_status sqlite_bulk_register(struct sqlite_store *store, boxcar_error *err) {
    int rc = sqlite3_create_module(store->db, MODULE_NAME, &MODULE, NULL);
    return rc == SQLITE_OK ? BOXCAR_OK : sqlite_error(store, rc, err);
}

boxcar_status sqlite_bulk_insert(struct sqlite_store *store, const struct bulk *bulk, bool *ret_stored,
                                 boxcar_error *err) {
    struct query query = query_on(store, S_MESSAGE_INSERT_MANY);
    boxcar_error failure = BOXCAR_ERROR_INIT;
    query_pointer(&query, bulk, POINTER_TYPE);
    boxcar_status status = query_run(&query, &failure);
    *ret_stored = status == BOXCAR_OK;
    if (status == BOXCAR_OK ||
        (store->last_rc & 0xff) == SQLITE_CONSTRAINT) /* then the statement has undone itself */
        return BOXCAR_OK;
    if (err != NULL)
        *err = failure;
    return status;
}
