#include "identity.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/open.h"

/* The folder without links, and the name behind it: the file may be made later. NULL = there is no folder, or
 * no memory. */
static char *whole_path_of_new(const char *path) {
    const char *slash = strrchr(path, '/');
    AUTO_FREE char *folder =
        slash ? memory_copy_text((boxcar_str){path, slash == path ? 1 : (size_t)(slash - path)})
              : strdup(".");
    AUTO_FREE char *whole = folder ? realpath(folder, NULL) : NULL;
    char *result;
    if (!whole)
        return NULL;
    const char *name = slash ? slash + 1 : path;
    return asprintf(&result, "%s/%s", strcmp(whole, "/") == 0 ? "" : whole, name) < 0 ? NULL : result;
}

boxcar_status sqlite_make_id(const char *path, char **ret_id, boxcar_error *err) {
    AUTO_FREE char *present = realpath(path, NULL);
    AUTO_FREE char *absent = present || strcmp(path, ":memory:") == 0 ? NULL : whole_path_of_new(path);
    char *id;
    if (asprintf(&id, STORE_URL_SQLITE "%s", present ? present : absent ? absent : path) < 0)
        return error_no_memory(err);
    *ret_id = id;
    return BOXCAR_OK;
}

boxcar_status store_sqlite_identify(boxcar_str url, boxcar_str schema, char **ret_id, boxcar_error *err) {
    size_t prefix = sizeof(STORE_URL_SQLITE) - 1;
    AUTO_FREE char *path = memory_copy_text((boxcar_str){url.data + prefix, url.len - prefix});
    (void)schema;
    return path ? sqlite_make_id(path, ret_id, err) : error_no_memory(err);
}
