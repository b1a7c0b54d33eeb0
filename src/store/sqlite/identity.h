/* The identifier of an SQLite store: the whole path of its file. */
#ifndef BOXCAR_STORE_SQLITE_IDENTITY_H
#define BOXCAR_STORE_SQLITE_IDENTITY_H

#include "boxcar/error.h"

/* "sqlite:" and the path without links, as far as it exists. *ret_id is malloc'ed. */
boxcar_status sqlite_make_id(const char *path, char **ret_id, boxcar_error *err);

#endif
