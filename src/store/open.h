/* The ways into a store. */
#ifndef BOXCAR_STORE_OPEN_H
#define BOXCAR_STORE_OPEN_H

#include "store.h"

/* Lays the caller's options over the defaults and checks everything but the URL's form; the
 * schema is always set afterwards. For the ways into a store: open and the two borrows. */
boxcar_status store_options_read(const boxcar_store_options *given, boxcar_store_options *ret_options,
                                 boxcar_error *err);

#define STORE_URL_SQLITE "sqlite:" /* the path follows */

/* Whether a URL has a form that some backend knows. */
boxcar_status store_check_url(boxcar_str url, boxcar_error *err);
/* Opens the store that the URL names: what boxcar_store_open() does once it has its arguments. */
boxcar_status store_open(const boxcar_store_options *options, struct boxcar_store **ret_store,
                         boxcar_error *err);

/* The backends' entry points. `options` went through store_options_read() and its URL has the
 * backend's form. They deploy when `options` says so. */
boxcar_status store_sqlite_open(const boxcar_store_options *options, struct boxcar_store **ret_store,
                                boxcar_error *err);
boxcar_status store_postgres_open(const boxcar_store_options *options, struct boxcar_store **ret_store,
                                  boxcar_error *err);

#endif
