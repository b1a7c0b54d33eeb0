/* One transaction a call: begun with the write lock, retried while the file is busy, and
 * always ended. On a connection lent by a program it is a savepoint inside the program's
 * own transaction, or a transaction by itself when the program has none open. */
#include "sqlite_store.h"

static void scratch_clear(struct sqlite_store *store) {
    sqlite_tally_clear(&store->tally);
    arena_release(&store->scratch);
    store->settings.loaded = false;
}

static boxcar_status run(struct sqlite_store *store, enum statement statement, boxcar_error *err) {
    struct query query = query_on(store, statement);

    return query_run(&query, err);
}

/* Whatever failed may have ended the transaction already (a full disk, for one). */
static void undo(struct sqlite_store *store) {
    if (sqlite3_get_autocommit(store->db))
        return;
    if (!store->borrowed) {
        run(store, S_ROLLBACK, NULL);
        return;
    }
    run(store, S_ROLLBACK_TO, NULL);
    run(store, S_RELEASE, NULL);
}

static boxcar_status begin(struct sqlite_store *store, enum access access, boxcar_error *err) {
    boxcar_status status;

    if (!store->borrowed)
        return run(store, access == ACCESS_READ ? S_BEGIN_READ : S_BEGIN_WRITE, err);
    status = run(store, S_SAVEPOINT, err);
    if (status == BOXCAR_OK && access != ACCESS_READ)
        status = run(store, S_TAKE_TURN, err);
    return status;
}

static boxcar_status work_in_turn(struct sqlite_store *store, enum access access, sqlite_work_fn work,
                                  void *context, boxcar_error *err) {
    boxcar_status status;

    store->now = sqlite_clock(); /* after the turn came: waiting must not make it old */
    status = work(store, context, err);
    if (status == BOXCAR_OK && access != ACCESS_READ)
        status = sqlite_tally_flush(store, err);
    if (status == BOXCAR_OK)
        status = run(store, store->borrowed ? S_RELEASE : S_COMMIT, err);
    return status;
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

/* Inside the caller's transaction nothing can be tried again: its snapshot is what it is. */
static boxcar_status blame_transaction(struct sqlite_store *store, boxcar_status status, boxcar_error *err) {
    bool gone = sqlite3_get_autocommit(store->db);

    if (status != BOXCAR_OK && err != NULL && (gone || status == BOXCAR_E_UNAVAILABLE))
        err->must_roll_back = true;
    return status;
}

static boxcar_status attempt_patiently(struct sqlite_store *store, enum access access, sqlite_work_fn work,
                                       void *context, boxcar_error *err) {
    bool inside = store->borrowed && !sqlite3_get_autocommit(store->db);
    boxcar_status status;
    int tries = 0;

    if (inside)
        return blame_transaction(store, attempt_once(store, access, work, context, err), err);
    sqlite_busy_start(&store->busy, store->busy_timeout_ms);
    status = access == ACCESS_READ ? BOXCAR_OK : sqlite_set_durable(store, access == ACCESS_WRITE, err);
    if (status != BOXCAR_OK)
        return status;
    do
        status = attempt_once(store, access, work, context, err);
    while (status == BOXCAR_E_UNAVAILABLE && sqlite_is_busy(store->last_rc) &&
           sqlite_busy_wait(&store->busy, tries++));
    if (status == BOXCAR_OK && access != ACCESS_READ)
        sqlite_checkpoint_if_due(store);
    return status;
}

/* A program that lends its connection finds sqlite3_last_insert_rowid() as it left it. */
boxcar_status sqlite_transaction(struct sqlite_store *store, enum access access, sqlite_work_fn work,
                                 void *context, boxcar_error *err) {
    sqlite3_int64 rowid = sqlite3_last_insert_rowid(store->db);
    boxcar_status status = attempt_patiently(store, access, work, context, err);

    if (store->borrowed)
        sqlite3_set_last_insert_rowid(store->db, rowid);
    return status;
}
