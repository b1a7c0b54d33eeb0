/* Copying the WAL back into the database file, by one connection at a time.
 *
 * SQLite's own automatic checkpoints run after a commit in whatever connection made it,
 * while others write. In that moment a writer may start the WAL over just as a second
 * checkpoint begins with a stale idea of where it ends, and SQLite up to 3.51.2 can then
 * take frames for copied that are not. So automatic checkpoints are off here. Instead the
 * connection that holds the write lock, at the start of its transaction, has a second
 * connection of its own copy the WAL: while the lock is held nobody else can write, start
 * the WAL over, or come here, and the lock needs no file beside the database. A passive
 * checkpoint waits for no reader; what a reader still needs is copied another time. The
 * transaction's own snapshot is the end of the WAL and holds nothing back.
 *
 * Connections that programs lend to Boxcar keep the checkpointing they have. */
#include "sqlite_store.h"

#define WAL_PAGES 1000 /* what SQLite's own default is */

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

static bool open_checkpointer(struct sqlite_store *store) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;

    if (store->checkpointer != NULL)
        return true;
    if (sqlite3_open_v2(store->path, &store->checkpointer, flags, NULL) == SQLITE_OK)
        return true;
    sqlite3_close(store->checkpointer);
    store->checkpointer = NULL;
    return false;
}

/* A failure here harms nobody: the WAL keeps everything and the next turn tries again. */
void sqlite_checkpoint_in_turn(struct sqlite_store *store) {
    int in_wal = -1, copied = -1, rc = SQLITE_CANTOPEN;

    if (store->wal_pages < store->wal_checkpoint_at)
        return;
    if (open_checkpointer(store))
        rc = sqlite3_wal_checkpoint_v2(store->checkpointer, NULL, SQLITE_CHECKPOINT_PASSIVE, &in_wal, &copied);
    store->wal_checkpoint_at = store->wal_pages + WAL_PAGES;
    if (rc != SQLITE_OK && rc != SQLITE_BUSY)
        store_log(&store->base, BOXCAR_LOG_WARN, "checkpoint", NULL, 0, "the WAL could not be copied back: %s",
                  sqlite3_errstr(rc));
}
