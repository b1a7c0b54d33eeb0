#include <errno.h>
#include <string.h>

#include "connection.h"

/* The status for the file system's error, where SQLite only reports an I/O error. */
static int io_status(sqlite3 *db, int rc) {
    int system_errno = sqlite3_system_errno(db);
    if (rc == SQLITE_IOERR_NOMEM)
        return BOXCAR_E_NO_MEMORY;
    if (system_errno == ENOSPC || system_errno == EDQUOT)
        return BOXCAR_E_FULL;
    return system_errno == EROFS ? BOXCAR_E_READ_ONLY : BOXCAR_E_STORE;
}

static boxcar_status status_of(sqlite3 *db, int rc) {
    switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL: /* gave up finding a consistent WAL among many writers */
    case SQLITE_INTERRUPT:
        return BOXCAR_E_UNAVAILABLE;
    case SQLITE_NOMEM:
        return BOXCAR_E_NO_MEMORY;
    case SQLITE_READONLY:
        return BOXCAR_E_READ_ONLY;
    case SQLITE_FULL:
        return BOXCAR_E_FULL;
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return BOXCAR_E_DENIED;
    case SQLITE_CANTOPEN: /* the files next to a WAL database cannot be made */
        return sqlite3_db_readonly(db, "main") == 1 ? BOXCAR_E_READ_ONLY : BOXCAR_E_UNAVAILABLE;
    case SQLITE_IOERR:
        return io_status(db, rc);
    default:
        return BOXCAR_E_STORE;
    }
}

bool sqlite_is_busy(int rc) {
    return (rc & 0xff) == SQLITE_BUSY || (rc & 0xff) == SQLITE_LOCKED || (rc & 0xff) == SQLITE_PROTOCOL;
}

static const char *remedy_of(boxcar_status status) {
    switch (status) {
    case BOXCAR_E_UNAVAILABLE:
        return "; other programs are using the file, try again later";
    case BOXCAR_E_READ_ONLY:
        return "; check the rights of the file, its folder and the file system";
    case BOXCAR_E_FULL:
        return "; make room where the file lives, nothing of this call was kept";
    default:
        return "";
    }
}

boxcar_status sqlite_error_not_deployed(struct sqlite_store *store, boxcar_error *err) {
    if (store->borrowed)
        return error_set(
            err, BOXCAR_E_NOT_DEPLOYED,
            "the database has no Boxcar tables: run `boxcar init --store sqlite:PATH` on its file");
    return error_set(err, BOXCAR_E_NOT_DEPLOYED,
                     "%s has no Boxcar tables: run `boxcar init --store %s`, or open with deploy",
                     store->base.id, store->base.id);
}

boxcar_status sqlite_error(struct sqlite_store *store, int rc, boxcar_error *err) {
    const char *text = sqlite3_errmsg(store->db);
    boxcar_status status = status_of(store->db, rc);
    store->last_rc = rc;
    if ((rc & 0xff) == SQLITE_NOTADB)
        return error_set(err, BOXCAR_E_STORE, "%s is not an SQLite database", store->base.id);
    if ((rc & 0xff) == SQLITE_TOOBIG)
        return error_invalid(err, "payload", "payload is larger than this SQLite takes");
    if (rc == SQLITE_ERROR && strncmp(text, "no such table: boxcar_", 22) == 0)
        return sqlite_error_not_deployed(store, err);
    return error_set(err, status, "%s: %s (SQLite code %d)%s", store->base.id, text, rc, remedy_of(status));
}
