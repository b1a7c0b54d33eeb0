/* Opening a store on a file of its own, or on a connection that a program lends. */
#include <stdio.h>

#include "base/utf8.h"
#include "boxcar/sqlite.h"
#include "identity.h"
#include "request.h"
#include "store/join_log.h"
#include "store/open.h"
#include "store/sqlite/admin/admin.h"
#include "store/sqlite/admin/dead.h"
#include "store/sqlite/admin/instance.h"
#include "store/sqlite/admin/setting.h"
#include "store/sqlite/connection/connection.h"
#include "store/sqlite/connection/transaction.h"
#include "store/sqlite/deploy/deploy.h"
#include "store/sqlite/event/event.h"
#include "store/sqlite/inbox/inbox.h"
#include "store/sqlite/join/join.h"
#include "store/sqlite/message/inspect.h"
#include "store/sqlite/schedule/schedule.h"
#include "store/sqlite/stream/admin.h"
#include "store/sqlite/subscription/subscription.h"

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
    .subscription_change = sqlite_subscription_change,
    .subscription_read = sqlite_subscription_read,
    .schedule_change = sqlite_schedule_change,
    .schedule_plan = sqlite_schedule_plan,
    .schedule_read = sqlite_schedule_read,
    .schedule_slices = sqlite_schedule_slices,
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
static boxcar_status refresh_id(struct sqlite_store *store, const char *path, boxcar_error *err) {
    char *id;
    TRY(sqlite_make_id(path, &id, err));
    free(store->base.id);
    store->base.id = id;
    return BOXCAR_OK;
}

/* ---- a file of its own ---- */

static boxcar_status open_file(struct sqlite_store *store, bool deploy, boxcar_error *err) {
    TRY(refresh_id(store, store->path, err));
    TRY(sqlite_connect(store, deploy, err));
    if (!deploy) /* looks first, so that a foreign file is left as it is */
        TRY(sqlite_check_deployed(store, err));
    TRY(sqlite_prepare_journal(store, err));
    if (!deploy)
        return BOXCAR_OK;
    TRY(sqlite_deploy(&store->base, &store->base.deployment, err));
    return refresh_id(store, store->path, err);
}

static boxcar_status open_path(const boxcar_store_options *options, boxcar_str path,
                               struct sqlite_store **ret_store, boxcar_error *err) {
    struct sqlite_store *store = store_new(options);
    if (store == NULL)
        return error_no_memory(err);
    store->path = memory_copy_text(path);
    boxcar_status status =
        store->path != NULL ? open_file(store, options->deploy, err) : error_no_memory(err);
    if (status != BOXCAR_OK) {
        close_store(&store->base);
        return status;
    }
    sqlite_checkpoint_watch(store);
    *ret_store = store;
    return BOXCAR_OK;
}

static bool has_moved(struct sqlite_store *store) {
    int moved = 0;
    return !store->borrowed && !store->begun &&
           sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved;
}

/* A new store is made, so that nothing of the old connection is left in it, and takes the old one's place. */
static boxcar_status reopen(struct sqlite_store *store, boxcar_error *err) {
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    options.durability = store->relaxed ? BOXCAR_DURABILITY_NORMAL : BOXCAR_DURABILITY_FULL;
    options.busy_timeout_ms = store->busy_timeout_ms;
    options.log = store->base.log;
    options.log_context = store->base.log_context;
    options.log_level = (boxcar_log_level)store->base.log_level;
    struct sqlite_store *fresh;
    if (open_path(&options, boxcar_str_of(store->path), &fresh, err) != BOXCAR_OK) {
        if (err != NULL) {
            err->status = BOXCAR_E_UNAVAILABLE;
            err->retryable = true;
        }
        return BOXCAR_E_UNAVAILABLE;
    }
    fresh->base.impatient = store->base.impatient;
    fresh->base.call_ms = store->base.call_ms;
    fresh->base.is_down = store->base.is_down;
    fresh->base.deployment = store->base.deployment;
    struct sqlite_store old = *store;
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
    size_t prefix = sizeof(STORE_URL_SQLITE) - 1;
    boxcar_str url = options->url;
    if (!str_starts_with(url, BOXCAR_STR(STORE_URL_SQLITE)) || url.len == prefix)
        return error_invalid(err, "url", "url names no file: give sqlite:PATH");
    struct sqlite_store *store;
    TRY(open_path(options, (boxcar_str){url.data + prefix, url.len - prefix}, &store, err));
    *ret_store = &store->base;
    return BOXCAR_OK;
}

/* ---- a connection that is lent ---- */

static boxcar_status borrow(struct sqlite_store *store, sqlite3 *db, boxcar_error *err) {
    const char *name = sqlite3_db_filename(db, "main");
    store->db = db;
    store->borrowed = true;
    TRY(refresh_id(store, name != NULL && name[0] != '\0' ? name : ":memory:", err));
    return sqlite_check_deployed(store, err);
}

boxcar_status boxcar_store_borrow_sqlite(sqlite3 *db, const boxcar_store_options *options,
                                         boxcar_store **ret_store, boxcar_error *err) {
    if (db == NULL)
        return error_invalid(err, "db", "db is NULL: it is required");
    if (ret_store == NULL)
        return error_invalid(err, "ret_store", "ret_store is NULL: it is required");
    boxcar_store_options checked = BOXCAR_STORE_OPTIONS_INIT;
    if (options != NULL)
        TRY(store_options_read(options, &checked, err));
    struct sqlite_store *store = store_new(&checked);
    if (store == NULL)
        return error_no_memory(err);
    boxcar_status status = borrow(store, db, err);
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
