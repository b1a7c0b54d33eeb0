/* Copying the WAL back into the database file, by one connection at a time.
 *
 * SQLite's own automatic checkpoints run after a commit, in the connection that made it,
 * while others write. In that moment a writer may start the WAL over just as another
 * checkpoint begins with a stale idea of where it ends. SQLite 3.40 can then take frames
 * for copied that are not. So automatic checkpoints are off here. Instead, a connection
 * whose commit made the WAL long takes the write lock once more, writes nothing, and has a
 * second connection of its own copy the WAL. While the write lock is held, no other
 * connection can write, start the WAL over, or copy it, and no lock file is needed. This
 * leaves the WAL wholly copied, so that the next writer starts it over. A passive checkpoint
 * waits for no reader; frames that a reader still needs are copied another time.
 *
 * Connections that programs lend to Boxcar keep the checkpointing they have. */
#include "connection.h"

#define WAL_PAGES 1000      /* what SQLite's own default is */
#define TURN_TIMEOUT_MS 100 /* a later commit tries again */

static int note_commit(void *context, sqlite3 *db, const char *name, int pages) {
    struct sqlite_store *store = context;
    (void)db;
    (void)name;
    if (pages < store->wal_pages) /* it was started over */
        store->wal_checkpoint_at = WAL_PAGES;
    store->wal_pages = pages;
    return SQLITE_OK;
}

void sqlite_checkpoint_watch(struct sqlite_store *store) {
    store->wal_checkpoint_at = WAL_PAGES;
    sqlite3_wal_hook(store->db, note_commit, store); /* takes the place of the automatic one */
}

/* A connection finds out that the file has a WAL by reading; before, a checkpoint does nothing. */
static bool open_checkpointer(struct sqlite_store *store) {
    if (store->checkpointer != NULL)
        return true;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(store->path, &store->checkpointer, flags, NULL) == SQLITE_OK &&
        sqlite3_exec(store->checkpointer, "pragma schema_version", NULL, NULL, NULL) == SQLITE_OK)
        return true;
    sqlite3_close(store->checkpointer);
    store->checkpointer = NULL;
    return false;
}

/* A failure here does no harm: the WAL keeps everything, and a later commit tries again. */
static void copy_back(struct sqlite_store *store) {
    int rc = SQLITE_CANTOPEN;
    if (open_checkpointer(store))
        rc = sqlite3_wal_checkpoint_v2(store->checkpointer, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    store->wal_checkpoint_at = store->wal_pages + WAL_PAGES;
    if (rc != SQLITE_OK && rc != SQLITE_BUSY)
        store_log(&store->base, BOXCAR_LOG_WARN, "checkpoint", NULL, 0,
                  "the WAL could not be copied back: %s", sqlite3_errstr(rc));
}

void sqlite_checkpoint_if_due(struct sqlite_store *store) {
    if (store->borrowed || store->wal_pages < store->wal_checkpoint_at)
        return;
    sqlite_busy_start(&store->busy, TURN_TIMEOUT_MS);
    if (query_do(store, S_BEGIN_WRITE, NULL) != BOXCAR_OK)
        return;
    copy_back(store);
    query_do(store, S_ROLLBACK, NULL);
}
