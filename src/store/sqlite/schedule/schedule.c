/* Making, changing and removing schedules. */
#include "schedule.h"

#include <stdio.h>

#include "base/utf8.h"
#include "store/sqlite/connection/transaction.h"
#include "store/sqlite/subscription/reader.h"

/* ---- rows ---- */

static bool is_number(const struct query *row, int column) {
    return sqlite3_column_type(row->stmt, column) == SQLITE_INTEGER && query_get_int(row, column) >= 0;
}

static bool is_text(const struct query *row, int column) {
    boxcar_str text = query_get_text(row, column);
    return sqlite3_column_type(row->stmt, column) == SQLITE_TEXT && text.len > 0 && utf8_is_valid(text);
}

static bool is_id(const struct query *row, int column) {
    return sqlite3_column_type(row->stmt, column) == SQLITE_BLOB &&
           sqlite3_column_bytes(row->stmt, column) == 16;
}

static bool is_of_type(const struct query *row, int column, char type) {
    switch (type) {
    case 't':
        return is_text(row, column);
    case 'T':
        return query_is_null(row, column) || is_text(row, column);
    case 'i':
        return is_number(row, column);
    case 'I':
        return query_is_null(row, column) || is_number(row, column);
    default:
        return query_is_null(row, column) || is_id(row, column);
    }
}

boxcar_status sqlite_schedule_check_row(struct sqlite_store *store, const struct query *row,
                                        const char *types, const char *what, boxcar_error *err) {
    for (int column = 0; types[column] != '\0'; column++) {
        const char *name = sqlite3_column_name(row->stmt, column);
        if (!is_of_type(row, column, types[column]))
            return error_set(
                err, BOXCAR_E_STORE,
                "%s: %s is damaged: its %s is not what Boxcar writes; correct or delete the row with "
                "the sqlite3 program",
                store->base.id, what, name != NULL ? name : "value");
    }
    return BOXCAR_OK;
}

boxcar_status sqlite_slice_topic(struct sqlite_store *store, boxcar_str topic, boxcar_str work_key,
                                 boxcar_str *ret_topic, boxcar_error *err) {
    AUTO_BUF struct buf text = BUF_INIT;
    buf_append_text(&text, BOXCAR_SLICE_TOPIC_PREFIX);
    buf_append_str(&text, topic);
    buf_append_char(&text, ':');
    buf_append_str(&text, work_key);
    bool made = !text.failed && arena_copy_str(&store->scratch, (boxcar_str){text.data, text.len}, ret_topic);
    return made ? BOXCAR_OK : error_no_memory(err);
}

/* ---- making ---- */

/* Joins count what the main reader ends, and it never gets these. */
static boxcar_status check_taken(struct sqlite_store *store, const boxcar_new_schedule *given,
                                 boxcar_error *err) {
    boxcar_str topic;
    bool taken = false;
    TRY(sqlite_slice_topic(store, given->topic, given->work_key, &topic, err));
    if (!str_is_absent(given->then_topic))
        TRY(sqlite_reader_takes(store, BOXCAR_OUTBOX, topic, &taken, err));
    return taken ? error_invalid(
                       err, "then_topic",
                       "then_topic is set, but a subscription takes these messages from the main reader "
                       "(only), and joins count what that ends: leave then_topic out, or use another "
                       "topic")
                 : BOXCAR_OK;
}

static boxcar_status error_exists(const boxcar_new_schedule *given, boxcar_error *err) {
    boxcar_str topic = utf8_cut(given->topic, 100), key = utf8_cut(given->work_key, 100);
    error_set(err, BOXCAR_E_CONFLICT,
              "there is a schedule for topic \"%.*s\" and work key \"%.*s\" already: remove that one, or use "
              "another "
              "work key",
              (int)topic.len, topic.data, (int)key.len, key.data);
    if (err != NULL)
        snprintf(err->argument, sizeof(err->argument), "work_key");
    return BOXCAR_E_CONFLICT;
}

static boxcar_status insert(struct sqlite_store *store, const boxcar_new_schedule *given, int64_t *ret_id,
                            boxcar_error *err) {
    AUTO_QUERY struct query query =
        query_with(store, S_SCHEDULE_INSERT, Q_TEXT(given->topic), Q_TEXT(given->work_key),
                   Q_INT(given->every_ms), Q_INT(given->jitter_ms), Q_INT(given->shards),
                   Q_TEXT(given->then_topic), Q_TEXT(given->else_topic), Q_INT(store->now));
    bool found;
    TRY(query_step(&query, &found, err));
    if (!found)
        return error_exists(given, err);
    *ret_id = query_get_int(&query, 0);
    return BOXCAR_OK;
}

static boxcar_status add(struct sqlite_store *store, const boxcar_new_schedule *given, boxcar_error *err) {
    int64_t id;
    TRY(check_taken(store, given, err));
    TRY(insert(store, given, &id, err));
    return query_do(store, S_SHARDS_INSERT, err, Q_INT(id), Q_INT(given->shards), Q_INT(store->now),
                    Q_INT(given->jitter_ms));
}

/* ---- changing ---- */

struct changing {
    const struct schedule_change *change;
    bool changed;
};

static boxcar_status complete(struct sqlite_store *store, int64_t id, struct changing *changing,
                              boxcar_error *err) {
    const struct schedule_change *change = changing->change;
    TRY(query_do(store, S_SLICE_COMPLETE, err, Q_INT(id), Q_INT(change->shard), Q_INT(change->slice),
                 Q_INT(store->now)));
    changing->changed = sqlite3_changes(store->db) > 0;
    return BOXCAR_OK;
}

static boxcar_status change(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct changing *changing = context;
    const struct schedule_change *change = changing->change;
    int64_t id = 0;
    changing->changed = change->action != SCHEDULE_COMPLETE;
    if (change->action == SCHEDULE_ADD)
        return add(store, change->given, err);
    TRY(query_find_int(store, S_SCHEDULE_FIND, &id, err, Q_TEXT(change->topic), Q_TEXT(change->work_key)));
    if (id == 0)
        return store_refuse_schedule(change->topic, change->work_key, err);
    switch (change->action) {
    case SCHEDULE_ADD:
        break;
    case SCHEDULE_PAUSE:
        return query_do(store, S_SCHEDULE_PAUSE, err, Q_INT(id), Q_INT(store->now));
    case SCHEDULE_RESUME:
        return query_do(store, S_SCHEDULE_RESUME, err, Q_INT(id));
    case SCHEDULE_COMPLETE:
        return complete(store, id, changing, err);
    case SCHEDULE_REMOVE:
        TRY(query_do(store, S_SHARDS_DELETE, err, Q_INT(id)));
        return query_do(store, S_SCHEDULE_DELETE, err, Q_INT(id));
    }
    return BOXCAR_OK;
}

boxcar_status sqlite_schedule_change(struct boxcar_store *store, const struct schedule_change *given,
                                     bool *ret_changed, boxcar_error *err) {
    struct changing changing = {.change = given};
    TRY(sqlite_transaction(sqlite_of(store), ACCESS_WRITE, change, &changing, err));
    *ret_changed = changing.changed;
    return BOXCAR_OK;
}
