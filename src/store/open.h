/* The ways into a store. */
#ifndef BOXCAR_STORE_OPEN_H
#define BOXCAR_STORE_OPEN_H

#include <stdatomic.h>

#include "store.h"

/* Lays the caller's options over the defaults and checks everything but the URL's form; the
 * schema is always set afterwards. For the ways into a store: open and the two borrows. */
boxcar_status store_options_read(const boxcar_store_options *given, boxcar_store_options *ret_options,
                                 boxcar_error *err);

#define STORE_URL_SQLITE "sqlite:" /* the path follows */
#define STORE_DEFAULT_SCHEMA "boxcar"

/* Whether a URL has a form that some backend knows. */
boxcar_status store_check_url(boxcar_str url, boxcar_error *err);
/* Opens the store that the URL names: what boxcar_store_open() does once it has its arguments. */
boxcar_status store_open(const boxcar_store_options *options, struct boxcar_store **ret_store,
                         boxcar_error *err);

/* The identifier of the store that the options name, as boxcar_store_id() says it. Nothing is opened. *ret_id
 * is malloc'ed. BOXCAR_E_INVALID: the URL cannot be read. */
boxcar_status store_identify(boxcar_str url, boxcar_str schema, char **ret_id, boxcar_error *err);

/* A row of a query that lists something. The texts are lent; a null is absent. */
typedef boxcar_status store_row_fn(void *context, const boxcar_str *columns, int count, boxcar_error *err);
/* Runs a query against any database that a URL can name, be it a store or not. It opens a connection and
 * closes it. BOXCAR_E_INVALID: the query cannot be run, or has more than `most_columns` columns. `is_over`:
 * it ends soon once this is true, as BOXCAR_E_UNAVAILABLE. */
boxcar_status store_query(boxcar_str url, boxcar_str query, int most_columns, const atomic_bool *is_over,
                          store_row_fn *take, void *context, boxcar_error *err);

/* The backends' entry points. `options` went through store_options_read() and its URL has the
 * backend's form. They deploy when `options` says so. */
boxcar_status store_sqlite_open(const boxcar_store_options *options, struct boxcar_store **ret_store,
                                boxcar_error *err);
boxcar_status store_postgres_open(const boxcar_store_options *options, struct boxcar_store **ret_store,
                                  boxcar_error *err);
/* Their parts of store_identify() and store_query(). */
typedef boxcar_status store_identify_fn(boxcar_str url, boxcar_str schema, char **ret_id, boxcar_error *err);
typedef boxcar_status store_query_fn(boxcar_str url, boxcar_str query, int most_columns,
                                     const atomic_bool *is_over, store_row_fn *take, void *context,
                                     boxcar_error *err);
store_identify_fn store_sqlite_identify, store_postgres_identify;
store_query_fn store_sqlite_query, store_postgres_query;

#endif
