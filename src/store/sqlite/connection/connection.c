/* Opening the file, waiting for others, and the clock. */
#include "connection.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/sqlite/message/bulk.h"

#define NEW_FILE_MODE 0640 /* less what the umask takes */
#define CACHE_KIB "8192"
#define WAL_FILE_KEPT_BYTES "16777216" /* a WAL that grew beyond is cut when it starts over */
#define WAIT_FIRST_US 200
#define WAIT_LONGEST_US 8000

boxcar_time sqlite_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (boxcar_time)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void sqlite_busy_start(struct busy *busy, int64_t timeout_ms) {
    if (busy->random == 0) /* differs between processes and connections */
        busy->random = (uint64_t)clock_us() * 2654435761u ^ ((uint64_t)getpid() << 32) ^ (uintptr_t)busy;
    busy->deadline_us = clock_us() + timeout_ms * 1000;
}

uint64_t sqlite_draw(struct busy *busy) { /* xorshift */
    busy->random ^= busy->random << 13;
    busy->random ^= busy->random >> 7;
    busy->random ^= busy->random << 17;
    return busy->random;
}

/* Chance keeps waiters from coming back all at once; growth keeps them from spinning. */
bool sqlite_busy_wait(struct busy *busy, int tries) {
    int64_t longest = (int64_t)WAIT_FIRST_US << (tries < 6 ? tries : 6);
    int64_t left = busy->deadline_us - clock_us();
    if (left <= 0)
        return false;
    if (longest > WAIT_LONGEST_US)
        longest = WAIT_LONGEST_US;
    int64_t wait = longest / 2 + (int64_t)(sqlite_draw(busy) % (uint64_t)longest);
    if (wait > left)
        wait = left;
    nanosleep(&(struct timespec){.tv_nsec = wait * 1000}, NULL);
    return true;
}

int sqlite_busy_handler(void *busy, int tries) { return sqlite_busy_wait(busy, tries); }

/* The folder a path lies in; NULL when out of memory. */
static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return memory_copy_text(BOXCAR_STR("."));
    return memory_copy_text((boxcar_str){path, slash == path ? 1 : (size_t)(slash - path)});
}

/* SQLite says only "unable to open database file"; people need to know why. */
static boxcar_status explain_present(struct sqlite_store *store, const struct stat *info, boxcar_error *err) {
    if (S_ISDIR(info->st_mode))
        return error_invalid(err, "url", "url names a folder: %s is not a file", store->path);
    if (access(store->path, R_OK) != 0 && errno == EACCES)
        return error_set(err, BOXCAR_E_DENIED, "cannot open %s: permission denied", store->path);
    return error_set(err, BOXCAR_E_UNAVAILABLE, "cannot open %s: %s", store->path, sqlite3_errmsg(store->db));
}

static boxcar_status explain_absent(struct sqlite_store *store, const char *folder, bool create,
                                    boxcar_error *err) {
    struct stat info;
    if (stat(folder, &info) != 0)
        return error_set(err, BOXCAR_E_UNAVAILABLE, "cannot open %s: there is no folder %s", store->path,
                         folder);
    if (!create)
        return error_set(err, BOXCAR_E_NOT_DEPLOYED,
                         "there is no file %s: run `boxcar init --store %s`, or open with deploy",
                         store->path, store->base.id);
    if (access(folder, W_OK) == 0)
        return error_set(err, BOXCAR_E_UNAVAILABLE, "cannot create %s: %s", store->path,
                         sqlite3_errmsg(store->db));
    if (errno == EROFS)
        return error_set(err, BOXCAR_E_READ_ONLY, "cannot create %s: the file system is read-only",
                         store->path);
    return error_set(err, BOXCAR_E_DENIED, "cannot create %s: %s", store->path, strerror(errno));
}

static boxcar_status explain_cannot_open(struct sqlite_store *store, bool create, boxcar_error *err) {
    AUTO_FREE char *folder = folder_of(store->path);
    if (folder == NULL)
        return error_no_memory(err);
    struct stat info;
    if (stat(store->path, &info) == 0)
        return explain_present(store, &info, err);
    if (errno == EACCES)
        return error_set(err, BOXCAR_E_DENIED, "cannot open %s: permission denied", store->path);
    return explain_absent(store, folder, create, err);
}

/* Even a pragma reads the file first, and not every busy file asks the busy handler. */
static int run_patiently(struct sqlite_store *store, const char *sql) {
    int rc, tries = 0;
    do
        rc = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
    while (sqlite_is_busy(rc) && sqlite_busy_wait(&store->busy, tries++));
    return rc;
}

boxcar_status sqlite_exec(struct sqlite_store *store, const char *sql, boxcar_error *err) {
    int rc = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? BOXCAR_OK : sqlite_error(store, rc, err);
}

static boxcar_status run_pragma(struct sqlite_store *store, const char *sql, boxcar_error *err) {
    int rc = run_patiently(store, sql);
    return rc == SQLITE_OK ? BOXCAR_OK : sqlite_error(store, rc, err);
}

boxcar_status sqlite_set_durable(struct sqlite_store *store, bool durable, boxcar_error *err) {
    bool syncs = durable && !store->relaxed;
    if (store->borrowed || store->syncs == syncs)
        return BOXCAR_OK;
    TRY(run_pragma(store, syncs ? "pragma synchronous = full" : "pragma synchronous = normal", err));
    store->syncs = syncs;
    return BOXCAR_OK;
}

/* SQLite would make a file that every user may read, and gives the WAL and its index the rights of the file.
 * mknod() makes the file without opening it: closing a descriptor would drop the locks that another thread
 * has on the file. If it fails here, it fails again in SQLite, which then explains the error. */
static void create_file(const char *path) {
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    char whole[PATH_MAX + 1];
    int rc = vfs != NULL && vfs->mxPathname < (int)sizeof(whole)
                 ? vfs->xFullPathname(vfs, path, sizeof(whole), whole)
                 : SQLITE_CANTOPEN;
    if (rc == SQLITE_OK || rc == SQLITE_OK_SYMLINK) /* follows a symbolic link to what is not there yet */
        (void)!mknod(whole, S_IFREG | NEW_FILE_MODE, 0);
}

/* What SQLite cannot lock, map or sync. */
static boxcar_status check_is_file(struct sqlite_store *store, boxcar_error *err) {
    struct stat info;
    if (stat(store->path, &info) != 0 || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode))
        return BOXCAR_OK;
    return error_invalid(err, "url", "url names a device, a pipe or a socket: %s is not a file", store->path);
}

boxcar_status sqlite_connect(struct sqlite_store *store, bool create, boxcar_error *err) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    TRY(check_is_file(store, err));
    if (create) {
        flags |= SQLITE_OPEN_CREATE;
        create_file(store->path);
    }
    int rc = sqlite3_open_v2(store->path, &store->db, flags, NULL);
    if (store->db == NULL)
        return error_no_memory(err);
    if (rc != SQLITE_OK)
        return explain_cannot_open(store, create, err);
    sqlite_busy_start(&store->busy, store->busy_timeout_ms);
    sqlite3_busy_handler(store->db, sqlite_busy_handler, &store->busy);
    TRY(run_pragma(
        store, "pragma cache_size = -" CACHE_KIB "; pragma journal_size_limit = " WAL_FILE_KEPT_BYTES, err));
    return sqlite_bulk_register(store, err);
}

/* The mode stays with the file, so this changes something only once in a file's life. Then it
 * wants the file for itself. */
boxcar_status sqlite_prepare_journal(struct sqlite_store *store, boxcar_error *err) {
    int rc = run_patiently(store, "pragma journal_mode = wal");
    if (rc != SQLITE_OK && (rc & 0xff) != SQLITE_READONLY) /* a file that is read-only can still be read */
        return sqlite_error(store, rc, err);
    store->syncs = false;
    TRY(run_pragma(store, "pragma synchronous = normal", err));
    return sqlite_set_durable(store, true, err);
}

void sqlite_disconnect(struct sqlite_store *store) {
    for (int i = 0; i < 2 * STATEMENT_COUNT; i++) {
        sqlite3_finalize(store->statements[i / STATEMENT_COUNT][i % STATEMENT_COUNT]);
        store->statements[i / STATEMENT_COUNT][i % STATEMENT_COUNT] = NULL;
    }
    sqlite3_close(store->checkpointer);
    store->checkpointer = NULL;
    if (!store->borrowed) /* a handler may not have finalized all it prepared: v2 waits for that */
        sqlite3_close_v2(store->db);
    store->db = NULL;
}
