/* boxcar/store.h: opening, closing and deploying a store.
 *
 * A store is one database that holds Boxcar's tables: an SQLite file or a PostgreSQL
 * schema. A boxcar_store owns one connection to it.
 *
 * Threads: a boxcar_store is used by one thread at a time; open one per thread. Different
 * stores, also of the same database, are independent. After fork() the child must not
 * touch the parent's stores. */
#ifndef BOXCAR_STORE_H
#define BOXCAR_STORE_H

#include "error.h"
#include "log.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct boxcar_store boxcar_store;

typedef enum boxcar_durability {
    BOXCAR_DURABILITY_FULL = 0,  /* an enqueue that returned survives power loss */
    BOXCAR_DURABILITY_NORMAL = 1 /* SQLite: synchronous=NORMAL; a power cut may lose the last
                                    commits, a crash of the process never does. PostgreSQL: no
                                    effect, the server's synchronous_commit decides. */
} boxcar_durability;

typedef struct boxcar_store_options {
    size_t struct_size; /* set by BOXCAR_STORE_OPTIONS_INIT; lets this struct grow */
    boxcar_str url;     /* "sqlite:PATH", or a "postgres://" URL, given to libpq as it is. PATH is
                           a plain path: SQLite's URIs and ":memory:" are refused (borrow a
                           connection, sqlite.h, for a store in memory) */
    boxcar_str schema;  /* PostgreSQL schema; absent = "boxcar". At most 63 bytes of
                           letters, digits and _, not starting with a digit */
    bool deploy;        /* create or upgrade the schema at open; off: a store that is not
                           deployed is an error (BOXCAR_E_NOT_DEPLOYED) */
    boxcar_durability durability;
    int64_t busy_timeout_ms;    /* how long one call may wait for other writers (SQLite) or
                                   for a lost connection to come back (PostgreSQL);
                                   0 = 30 seconds */
    boxcar_log_fn log;          /* NULL = silent */
    void *log_context;
    boxcar_log_level log_level; /* records below this level are not made; default: all are made */
    int64_t answer_timeout_ms;  /* PostgreSQL: how long the server may be silent while a call waits for
                                   it. After that the connection is closed and the call fails with
                                   BOXCAR_E_UNAVAILABLE, outcome unknown. Deployments, upkeep, audits and
                                   lists get twenty times as long. 0 = 30 seconds; on a borrowed
                                   connection (postgres.h) 0 = for ever */
} boxcar_store_options;

#ifdef __cplusplus
#define BOXCAR_STORE_OPTIONS_INIT (boxcar_store_options{sizeof(boxcar_store_options), {0, 0}, {0, 0}, \
    false, BOXCAR_DURABILITY_FULL, 0, 0, 0, BOXCAR_LOG_DEBUG, 0})
#else
#define BOXCAR_STORE_OPTIONS_INIT ((boxcar_store_options){.struct_size = sizeof(boxcar_store_options)})
#endif

/* Opens a store. The caller owns *ret_store and closes it. An SQLite file is created only
 * when `deploy` is set, with mode 0640 less the umask. Everything in `options` is copied. */
BOXCAR_API boxcar_status boxcar_store_open(const boxcar_store_options *options,
                                           boxcar_store **ret_store, boxcar_error *err);

/* Closes the connection and frees the store; NULL is fine. For a store made from a
 * borrowed handle (sqlite.h, postgres.h) the handle itself stays open. */
BOXCAR_API void boxcar_store_close(boxcar_store *store);

/* Creates the schema or brings it up to date. Restores views, functions, indexes, constraints and triggers
 * that were dropped or changed. If a table is lost, the error names it (BOXCAR_E_STORE). Idempotent. Many
 * processes may call it at the same time, also while workers run. Not allowed on a borrowed handle. */
BOXCAR_API boxcar_status boxcar_store_deploy(boxcar_store *store, boxcar_error *err);

typedef struct boxcar_deployment {
    int schema_version;   /* the version the store has now */
    int applied;          /* how many migrations were run; 0 = it was up to date */
    int previous_version; /* the version it had before; 0 = there was no schema */
    int mended;           /* how many objects were restored because they had been dropped or changed */
} boxcar_deployment;

/* What the last deployment of this store did, by boxcar_store_open() with `deploy` or by
 * boxcar_store_deploy(); all zero when there was none. Lent until the store is deployed again or closed. */
BOXCAR_API const boxcar_deployment *boxcar_store_deployment(const boxcar_store *store);

/* A name for logs that is the same for every process using this store and contains no
 * secret. Lent until the store is closed. */
BOXCAR_API const char *boxcar_store_id(const boxcar_store *store);

/* "sqlite" or "postgres", for people; programs should not branch on it. */
BOXCAR_API const char *boxcar_store_kind(const boxcar_store *store);

#ifdef __cplusplus
}
#endif
#endif
