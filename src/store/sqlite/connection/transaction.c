/* One transaction a call: begun with the write lock, retried while the file is busy, and
 * always ended. On a connection lent by a program it is a savepoint inside the program's
 * own transaction, or a transaction by itself when the program has none open. In a
 * transaction that spans calls it is a savepoint, too. */
#include "transaction.h"

#include "connection.h"
#include "store/join_log.h"
#include "store/message_log.h"
#include "store/sqlite/join/join.h"
#include "store/sqlite/message/tally.h"

#define IMPATIENT_MS 2000

/* Whether a call is a savepoint: it neither begins nor commits anything. */
static bool is_guest(const struct sqlite_store *store) { return store->borrowed || store->begun; }

static void scratch_clear(struct sqlite_store *store) {
    sqlite_tally_clear(&store->tally);
    store->buried = (struct burial_list){0};
    store->rules = (struct stream_rules){0};
    store->acked = (struct acked_list){0};
    arena_release(&store->scratch);
    store->settings.loaded = false;
    store->reader = NULL;
    store->taken[BOXCAR_OUTBOX] = store->taken[BOXCAR_INBOX] = (struct taken){0};
}

/* Whatever failed may have ended the transaction already (a full disk, for one). */
static void undo(struct sqlite_store *store) {
    if (sqlite3_get_autocommit(store->db))
        return;
    if (!is_guest(store)) {
        query_do(store, S_ROLLBACK, NULL);
        return;
    }
    query_do(store, S_ROLLBACK_TO, NULL);
    query_do(store, S_RELEASE, NULL);
}

static boxcar_status begin(struct sqlite_store *store, enum access access, boxcar_error *err) {
    if (!is_guest(store))
        return query_do(store, access == ACCESS_READ ? S_BEGIN_READ : S_BEGIN_WRITE, err);
    TRY(query_do(store, S_SAVEPOINT, err));
    return access == ACCESS_READ ? BOXCAR_OK : query_do(store, S_TAKE_TURN, err);
}

static boxcar_status work_in_turn(struct sqlite_store *store, enum access access, sqlite_work_fn work,
                                  void *context, boxcar_error *err) {
    store->now = sqlite_clock(); /* after the turn came: waiting must not make it old */
    store->ended.count = 0;
    stream_log_forget(&store->halted);
    store->damage.count = 0;
    TRY(work(store, context, err));
    store->reader = NULL; /* joins and counters are the main readers' */
    TRY(sqlite_join_count_buried(store, err));
    if (access != ACCESS_READ) {
        TRY(sqlite_join_follow(store, err));
        TRY(sqlite_tally_flush(store, err));
    }
    return query_do(store, is_guest(store) ? S_RELEASE : S_COMMIT, err);
}

static boxcar_status attempt_once(struct sqlite_store *store, enum access access, sqlite_work_fn work,
                                  void *context, boxcar_error *err) {
    boxcar_status status = begin(store, access, err);
    if (status == BOXCAR_OK)
        status = work_in_turn(store, access, work, context, err);
    if (status != BOXCAR_OK)
        undo(store);
    scratch_clear(store);
    return status;
}

static bool is_busy(const struct sqlite_store *store, boxcar_status status) {
    return status == BOXCAR_E_UNAVAILABLE && sqlite_is_busy(store->last_rc);
}

static boxcar_status run_patiently(struct sqlite_store *store, enum statement statement, int64_t longest_ms,
                                   boxcar_error *err) {
    boxcar_status status;
    int tries = 0;
    sqlite_busy_start(&store->busy, longest_ms);
    do
        status = query_do(store, statement, err);
    while (is_busy(store, status) && sqlite_busy_wait(&store->busy, tries++));
    return status;
}

/* Inside the caller's transaction nothing can be tried again: its snapshot is what it is. */
static boxcar_status blame_transaction(struct sqlite_store *store, boxcar_status status, boxcar_error *err) {
    bool gone = sqlite3_get_autocommit(store->db);
    if (status != BOXCAR_OK && (gone || status == BOXCAR_E_UNAVAILABLE))
        err->must_roll_back = true;
    return status;
}

/* Ended by a statement of the handler, or by SQLite, which undoes it all when the disk is full. */
static boxcar_status error_not_open(struct sqlite_store *store, boxcar_error *err) {
    error_set(err, BOXCAR_E_TRANSACTION,
              "%s: the handler's transaction is not open any more: it was ended by a statement of the "
              "handler, or undone by SQLite after an error",
              store->base.id);
    err->must_roll_back = true;
    return BOXCAR_E_TRANSACTION;
}

/* A worker has handlers to look after, so it waits less long for the file than a program would. */
static int64_t patience_ms(const struct sqlite_store *store) {
    int64_t longest = store->base.call_ms < IMPATIENT_MS ? store->base.call_ms : IMPATIENT_MS;
    return store->base.impatient && longest > 0 && longest < store->busy_timeout_ms ? longest
                                                                                    : store->busy_timeout_ms;
}

static boxcar_status attempt_patiently(struct sqlite_store *store, enum access access, sqlite_work_fn work,
                                       void *context, boxcar_error *err) {
    bool inside = is_guest(store) && !sqlite3_get_autocommit(store->db);
    if (store->begun && !inside)
        return error_not_open(store, err);
    if (inside)
        return blame_transaction(store, attempt_once(store, access, work, context, err), err);
    sqlite_busy_start(&store->busy, patience_ms(store));
    if (access != ACCESS_READ)
        TRY(sqlite_set_durable(store, access == ACCESS_WRITE, err));
    boxcar_status status;
    int tries = 0;
    do
        status = attempt_once(store, access, work, context, err);
    while (is_busy(store, status) && sqlite_busy_wait(&store->busy, tries++));
    if (status == BOXCAR_OK && access != ACCESS_READ)
        sqlite_checkpoint_if_due(store);
    return status;
}

/* One line when calls begin to fail for reasons outside, one when they work again. Only a commit that
 * wrote something shows the latter: a full disk can still be read. */
static boxcar_status note_health(struct sqlite_store *store, boxcar_status status, bool wrote,
                                 const boxcar_error *err) {
    bool down = status == BOXCAR_E_UNAVAILABLE || status == BOXCAR_E_FULL || status == BOXCAR_E_READ_ONLY;
    if (down && !store->base.is_down && !store->base.impatient)
        store_log(&store->base, BOXCAR_LOG_WARN, "store_down", NULL, 0, "%s", err->message);
    if (status == BOXCAR_OK && wrote && store->base.is_down && !store->base.impatient)
        store_log(&store->base, BOXCAR_LOG_INFO, "store_up", NULL, 0, "%s can be written again",
                  store->base.id);
    store->base.is_down = down || (store->base.is_down && !(status == BOXCAR_OK && wrote));
    return status;
}

static void tell(struct sqlite_store *store) {
    stream_log_remembered(&store->base, &store->halted);
    if (store->damage.count > 0)
        message_log_damaged(&store->base, store->damage.count, (boxcar_work_id){store->damage.work_id},
                            store->damage.field);
    store->damage.count = 0;
}

/* On a borrowed connection, and on ours lent to a handler, sqlite3_last_insert_rowid() stays as it was. */
boxcar_status sqlite_transaction(struct sqlite_store *store, enum access access, sqlite_work_fn work,
                                 void *context, boxcar_error *err) {
    boxcar_error unwanted;
    boxcar_error *error = err != NULL ? err : &unwanted;
    sqlite3_int64 rowid = sqlite3_last_insert_rowid(store->db);
    int changes = sqlite3_total_changes(store->db);
    boxcar_status status = attempt_patiently(store, access, work, context, error);
    if (is_guest(store))
        sqlite3_set_last_insert_rowid(store->db, rowid);
    if (status == BOXCAR_OK)
        tell(store);
    bool wrote = sqlite3_get_autocommit(store->db) && sqlite3_total_changes(store->db) != changes;
    return note_health(store, status, wrote, error);
}

boxcar_status sqlite_try_turn(struct sqlite_store *store, int64_t longest_ms, bool *ret_had_turn,
                              boxcar_error *err) {
    boxcar_status status = run_patiently(store, S_BEGIN_WRITE, longest_ms, err);
    if (status != BOXCAR_OK && !is_busy(store, status))
        return status;
    *ret_had_turn = status == BOXCAR_OK;
    return *ret_had_turn ? query_do(store, S_ROLLBACK, err) : BOXCAR_OK;
}

/* ---- a transaction that spans calls ---- */

/* A statement that a handler left halfway would block the commit, or would keep the old view of the file
 * in use, so that its connection could not begin again. */
static void reset_statements(struct sqlite_store *store) {
    sqlite3_stmt *stmt = NULL;
    while ((stmt = sqlite3_next_stmt(store->db, stmt)) != NULL) {
        if (sqlite3_stmt_busy(stmt))
            sqlite3_reset(stmt);
    }
}

static boxcar_status begin_handler(struct sqlite_store *store, boxcar_error *err) {
    if (store->borrowed)
        return error_set(err, BOXCAR_E_UNSUPPORTED,
                         "this connection is borrowed: begin the transaction on it yourself");
    if (store->begun)
        return error_set(err, BOXCAR_E_TRANSACTION, "%s: a transaction is open already", store->base.id);
    TRY(sqlite_follow_name(store, err));
    sqlite_busy_start(&store->busy, patience_ms(store));
    boxcar_status status = sqlite_set_durable(store, true, err); /* cannot be changed once it is open */
    if (status == BOXCAR_OK)
        status = run_patiently(store, S_BEGIN_WRITE, patience_ms(store), err);
    store->begun = status == BOXCAR_OK;
    if (store->begun)
        join_log_hold(&store->base);
    return note_health(store, status, false, err);
}

static void rollback_handler(struct sqlite_store *store) {
    if (!store->begun)
        return;
    store->begun = false;
    join_log_release(&store->base, false);
    reset_statements(store);
    undo(store);
}

static boxcar_status commit_handler(struct sqlite_store *store, boxcar_error *err) {
    if (!store->begun || sqlite3_get_autocommit(store->db)) {
        rollback_handler(store);
        return error_not_open(store, err);
    }
    reset_statements(store);
    boxcar_status status = run_patiently(store, S_COMMIT, patience_ms(store), err);
    if (status != BOXCAR_OK)
        rollback_handler(store);
    store->begun = false;
    join_log_release(&store->base, true); /* nothing is held after a rollback */
    if (status == BOXCAR_OK)
        sqlite_checkpoint_if_due(store);
    return note_health(store, status, true, err);
}

boxcar_status sqlite_handler_transaction(struct boxcar_store *store, enum transaction_step step,
                                         boxcar_error *err) {
    boxcar_error unwanted;
    boxcar_error *error = err != NULL ? err : &unwanted;
    if (step == TRANSACTION_BEGIN)
        return begin_handler(sqlite_of(store), error);
    if (step == TRANSACTION_COMMIT)
        return commit_handler(sqlite_of(store), error);
    rollback_handler(sqlite_of(store));
    return BOXCAR_OK;
}
