#include "exec.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

/* What execvp() searches when there is no PATH. */
#define USUAL_FOLDERS "/bin:/usr/bin"

/* 0, or an errno: why PATH cannot be executed. */
static int try_path(const char *path) {
    struct stat info;
    if (stat(path, &info) < 0)
        return errno;
    if (S_ISDIR(info.st_mode))
        return EISDIR;
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ? errno : 0;
}

static bool means_absent(int error) { return error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG; }

static boxcar_status refuse(const char *path, int error, boxcar_error *err) {
    if (means_absent(error))
        return error_set(err, BOXCAR_E_NOT_FOUND, "there is no program %s: %s", path, strerror(error));
    if (error == EACCES)
        return error_set(err, BOXCAR_E_DENIED, "%s may not be executed: make it executable (chmod +x)", path);
    return error_set(err, BOXCAR_E_DENIED, "%s cannot be executed: %s", path, strerror(error));
}

/* FOLDER/NAME in the arena; the empty folder is the current one. */
static char *join_path(struct arena *arena, boxcar_str folder, const char *name) {
    boxcar_str in = folder.len > 0 ? folder : BOXCAR_STR(".");
    char *path = arena_alloc_text(arena, in.len + 1 + strlen(name));
    if (!path)
        return NULL;
    memcpy(path, in.data, in.len);
    path[in.len] = '/';
    memcpy(path + in.len + 1, name, strlen(name) + 1);
    return path;
}

static boxcar_status find_in_folders(struct arena *arena, const char *name, const char *folders,
                                     const char **ret_path, boxcar_error *err) {
    const char *refused = NULL;
    int why = 0;
    for (const char *at = folders;; at++) {
        size_t len = strcspn(at, ":");
        char *path = join_path(arena, (boxcar_str){at, len}, name);
        if (!path)
            return error_no_memory(err);
        int error = try_path(path);
        if (error == 0) {
            *ret_path = path;
            return BOXCAR_OK;
        }
        if (!means_absent(error) && !refused) {
            refused = path;
            why = error;
        }
        at += len;
        if (*at == '\0')
            break;
    }
    if (refused)
        return refuse(refused, why, err);
    return error_set(err, BOXCAR_E_NOT_FOUND,
                     "there is no program '%s' in PATH: install it, or give its full path", name);
}

boxcar_status exec_find_program(struct arena *arena, const char *name, const char *search_path,
                                const char **ret_path, boxcar_error *err) {
    if (!strchr(name, '/'))
        return find_in_folders(arena, name, search_path ? search_path : USUAL_FOLDERS, ret_path, err);
    int error = try_path(name);
    if (error != 0)
        return refuse(name, error, err);
    *ret_path = name;
    return BOXCAR_OK;
}
