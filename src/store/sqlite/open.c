/* Opening a store on a file of its own, or on a connection that a program lends. */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "boxcar/sqlite.h"
#include "request.h"
#include "store/join_log.h"
#include "store/open.h"
#include "store/sqlite/admin/dead.h"
#include "store/sqlite/admin/diagnose.h"
#include "store/sqlite/admin/instance.h"
#include "store/sqlite/admin/maintain.h"
#include "store/sqlite/admin/setting.h"
#include "store/sqlite/admin/stats.h"
#include "store/sqlite/connection/connection.h"
#include "store/sqlite/connection/sleep.h"
#include "store/sqlite/connection/transaction.h"
#include "store/sqlite/deploy/deploy.h"
#include "store/sqlite/event/event.h"
#include "store/sqlite/inbox/inbox.h"
#include "store/sqlite/join/join.h"
#include "store/sqlite/message/inspect.h"
#include "store/sqlite/stream/admin.h"

#define URL_PREFIX "sqlite:"

static void close_store(struct boxcar_store *base) {
    struct sqlite_store *store = sqlite_of(base);

    sqlite_disconnect(store);
    sqlite_sleep_end(store);
    arena_release(&store->scratch);
    arena_release(&store->halted.arena);
    free(store->tally.entries);
    free(store->tally.slots);
    free(store->ended.items);
    join_log_release(base, false);
    free(store->path);
    free(store->base.id);
    free(store);
}

static const struct store_ops SQLITE_OPS = {
    .kind = "sqlite",
    .close = close_store,
    .deploy = sqlite_deploy,
    .process = sqlite_process,
    .transaction = sqlite_handler_transaction,
    .sleep = sqlite_sleep,
    .is_drained = sqlite_is_drained,
    .message_read = sqlite_message_read,
    .work_ids = sqlite_work_ids,
    .message_change = sqlite_message_change,
    .attempts = sqlite_attempts,
    .stats = sqlite_stats,
    .join_start = sqlite_join_start,
    .join_attach = sqlite_join_attach,
    .join_end = sqlite_join_end,
    .join_wait = sqlite_join_wait,
    .join_page = sqlite_join_page,
    .join_members = sqlite_join_members,
    .inbox_ask = sqlite_inbox_ask,
    .inbox_find = sqlite_inbox_find,
    .event_append = sqlite_event_append,
    .event_read = sqlite_event_read,
    .stream_page = sqlite_stream_page,
    .stream_change = sqlite_stream_change,
    .stream_rule_write = sqlite_stream_rule_write,
    .stream_rules = sqlite_stream_rules,
    .instances = sqlite_instances,
    .maintain = sqlite_maintain,
    .diagnose = sqlite_diagnose,
    .facts = sqlite_facts,
    .settings_read = sqlite_settings_read,
    .setting_write = sqlite_setting_write,
};

static struct sqlite_store *store_new(const boxcar_store_options *options) {
    struct sqlite_store *store = calloc(1, sizeof(*store));

    if (store == NULL)
        return NULL;
    store->base = (struct boxcar_store){.ops = &SQLITE_OPS,
                                        .log = options->log,
                                        .log_context = options->log_context,
                                        .log_level = options->log_level};
    store->wal_watch = -1;
    store->relaxed = options->durability == BOXCAR_DURABILITY_NORMAL;
    store->busy_timeout_ms = options->busy_timeout_ms > 0 ? options->busy_timeout_ms : 30000;
    sqlite_busy_start(&store->busy, store->busy_timeout_ms);
    return store;
}

/* The same for every process: the whole path, as far as the file exists. */
static char *make_id(const char *path) {
    AUTO_FREE char *whole = realpath(path, NULL);
    char *id = NULL;

    if (asprintf(&id, URL_PREFIX "%s", whole != NULL ? whole : path) < 0)
        return NULL;
    return id;
}

static boxcar_status refresh_id(struct sqlite_store *store, const char *path, boxcar_error *err) {
    char *id = make_id(path);

    if (id == NULL)
        return error_no_memory(err);
    free(store->base.id);
    store->base.id = id;
    return BOXCAR_OK;
}

/* ---- a file of its own ---- */

static boxcar_status set_path(struct sqlite_store *store, boxcar_str url, boxcar_error *err) {
    size_t prefix = sizeof(URL_PREFIX) - 1;

    if (!str_starts_with(url, BOXCAR_STR(URL_PREFIX)) || url.len == prefix)
        return error_invalid(err, "url", "url names no file: give sqlite:PATH");
    store->path = memory_copy_text((boxcar_str){url.data + prefix, url.len - prefix});
    return store->path == NULL ? error_no_memory(err) : refresh_id(store, store->path, err);
}

static boxcar_status open_file(struct sqlite_store *store, bool deploy, boxcar_error *err) {
    boxcar_status status = sqlite_connect(store, deploy, err);

    if (status == BOXCAR_OK && !deploy) /* looks first, so that a foreign file is left as it is */
        status = sqlite_check_deployed(store, err);
    if (status == BOXCAR_OK)
        status = sqlite_prepare_journal(store, err);
    if (status == BOXCAR_OK && deploy)
        status = sqlite_deploy(&store->base, &store->base.deployment, err);
    if (status == BOXCAR_OK && deploy)
        status = refresh_id(store, store->path, err);
    return status;
}

static bool has_moved(struct sqlite_store *store) {
    int moved = 0;

    return !store->borrowed && !store->begun &&
           sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved;
}

/* A new store is made, so that nothing of the old connection is left in it, and takes the old one's place. */
static boxcar_status reopen(struct sqlite_store *store, boxcar_error *err) {
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    struct sqlite_store *fresh, old;
    struct boxcar_store *opened = NULL;
    AUTO_FREE char *url = NULL;
    boxcar_status status;

    if (asprintf(&url, URL_PREFIX "%s", store->path) < 0) {
        url = NULL;
        return error_no_memory(err);
    }
    options.url = boxcar_str_of(url);
    options.durability = store->relaxed ? BOXCAR_DURABILITY_NORMAL : BOXCAR_DURABILITY_FULL;
    options.busy_timeout_ms = store->busy_timeout_ms;
    options.log = store->base.log;
    options.log_context = store->base.log_context;
    options.log_level = (boxcar_log_level)store->base.log_level;
    status = store_sqlite_open(&options, &opened, err);
    if (status != BOXCAR_OK) {
        if (err != NULL) {
            err->status = BOXCAR_E_UNAVAILABLE;
            err->retryable = true;
        }
        return BOXCAR_E_UNAVAILABLE;
    }
    fresh = sqlite_of(opened);
    fresh->base.impatient = store->base.impatient;
    fresh->base.call_ms = store->base.call_ms;
    fresh->base.is_down = store->base.is_down;
    fresh->base.deployment = store->base.deployment;
    old = *store;
    *store = *fresh;
    *fresh = old;
    /* SQLite calls back with these addresses. */
    sqlite3_busy_handler(store->db, sqlite_busy_handler, &store->busy);
    sqlite_checkpoint_watch(store);
    close_store(&fresh->base);
    store_log(&store->base, BOXCAR_LOG_WARN, "reopen", NULL, 0,
              "the file was removed or replaced: continuing with the file that has its name now");
    return BOXCAR_OK;
}

boxcar_status sqlite_follow_name(struct sqlite_store *store, boxcar_error *err) {
    return has_moved(store) ? reopen(store, err) : BOXCAR_OK;
}

boxcar_status store_sqlite_open(const boxcar_store_options *options, struct boxcar_store **ret_store,
                                boxcar_error *err) {
    struct sqlite_store *store = store_new(options);
    boxcar_status status;

    if (store == NULL)
        return error_no_memory(err);
    status = set_path(store, options->url, err);
    if (status == BOXCAR_OK)
        status = open_file(store, options->deploy, err);
    if (status != BOXCAR_OK) {
        close_store(&store->base);
        return status;
    }
    sqlite_checkpoint_watch(store);
    *ret_store = &store->base;
    return BOXCAR_OK;
}

/* ---- a connection that is lent ---- */

static boxcar_status borrow(struct sqlite_store *store, sqlite3 *db, boxcar_error *err) {
    const char *name = sqlite3_db_filename(db, "main");
    boxcar_status status;

    store->db = db;
    store->borrowed = true;
    status = refresh_id(store, name != NULL && name[0] != '\0' ? name : ":memory:", err);
    return status == BOXCAR_OK ? sqlite_check_deployed(store, err) : status;
}

boxcar_status boxcar_store_borrow_sqlite(sqlite3 *db, const boxcar_store_options *options,
                                         boxcar_store **ret_store, boxcar_error *err) {
    boxcar_store_options checked = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_status status = BOXCAR_OK;
    struct sqlite_store *store;

    if (db == NULL)
        return error_invalid(err, "db", "db is NULL: it is required");
    if (ret_store == NULL)
        return error_invalid(err, "ret_store", "ret_store is NULL: it is required");
    if (options != NULL)
        status = store_options_read(options, &checked, err);
    if (status != BOXCAR_OK)
        return status;
    store = store_new(&checked);
    if (store == NULL)
        return error_no_memory(err);
    status = borrow(store, db, err);
    if (status != BOXCAR_OK) {
        close_store(&store->base);
        return status;
    }
    *ret_store = &store->base;
    return BOXCAR_OK;
}

/* Opened without a mutex of SQLite's own: the store is used by one thread at a time, and so is this. */
sqlite3 *boxcar_store_sqlite_handle(boxcar_store *store) {
    return store != NULL && store->ops == &SQLITE_OPS ? sqlite_of(store)->db : NULL;
}
