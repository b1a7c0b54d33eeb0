/* Whether an SQLite file that nobody here has open was written: what the file system says of it and its WAL.
 */
#ifndef BOXCAR_WORKER_FLEET_WATCH_H
#define BOXCAR_WORKER_FLEET_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct watch {
    struct {
        int64_t inode, size, changed_ns; /* all 0 = there is no such file */
    } file, wal;
};

/* How the file is now. */
struct watch watch_look(const char *path);
static inline bool watch_equal(const struct watch *a, const struct watch *b) {
    return a->file.inode == b->file.inode && a->file.size == b->file.size &&
           a->file.changed_ns == b->file.changed_ns && a->wal.inode == b->wal.inode &&
           a->wal.size == b->wal.size && a->wal.changed_ns == b->wal.changed_ns;
}

#endif
