#include "watch.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

static void look(const char *path, int64_t *ret_inode, int64_t *ret_size, int64_t *ret_changed_ns) {
    struct stat info;
    if (stat(path, &info) != 0)
        return;
    *ret_inode = (int64_t)info.st_ino;
    *ret_size = (int64_t)info.st_size;
    *ret_changed_ns = (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
}

struct watch watch_look(const char *path) {
    struct watch watch = {.file = {0, 0, 0}};
    char wal[PATH_MAX + 8];
    look(path, &watch.file.inode, &watch.file.size, &watch.file.changed_ns);
    if (snprintf(wal, sizeof(wal), "%s-wal", path) < (int)sizeof(wal))
        look(wal, &watch.wal.inode, &watch.wal.size, &watch.wal.changed_ns);
    return watch;
}
