/* A directory of SQLite files, a store each. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/memory.h"
#include "discovery.h"

#define ENDING ".db"

/* Hidden files are not stores: programs that copy a store give it such a name until it is whole. */
static int is_store(const struct dirent *entry) {
    size_t length = strlen(entry->d_name), ending = strlen(ENDING);
    return entry->d_name[0] != '.' && length > ending && strcmp(entry->d_name + length - ending, ENDING) == 0;
}

static boxcar_status add(const char *path, const char *name, struct boxcar_discovered *list,
                         boxcar_error *err) {
    AUTO_BUF struct buf url = BUF_INIT;
    boxcar_store_entry entry = BOXCAR_STORE_ENTRY_INIT;
    buf_append_format(&url, "sqlite:%s/%s", path, name);
    if (url.failed)
        return error_no_memory(err);
    entry.url = (boxcar_str){url.data, url.len};
    entry.key = (boxcar_str){name, strlen(name) - strlen(ENDING)};
    return discovered_add(list, &entry, err);
}

boxcar_status discovery_read_directory(const char *path, struct boxcar_discovered *list, boxcar_error *err) {
    struct dirent **entries;
    boxcar_status status = BOXCAR_OK;
    int count = scandir(path, &entries, is_store, alphasort);
    if (count < 0)
        return error_set(err, errno == ENOENT ? BOXCAR_E_NOT_FOUND : BOXCAR_E_UNAVAILABLE,
                         "the directory %s cannot be read: %s", path, strerror(errno));
    for (int i = 0; i < count; i++) {
        if (status == BOXCAR_OK)
            status = add(path, entries[i]->d_name, list, err);
        free(entries[i]);
    }
    free(entries);
    return status;
}
