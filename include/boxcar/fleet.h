/* boxcar/fleet.h: one worker for many stores.
 *
 * A fleet is the list of stores that a worker serves: a fixed list, or one that it discovers again and again.
 * All stores share the worker's handlers and its concurrency. Stores without work need no connection, and never
 * more than `connections` stores are in use at a time.
 *
 *     boxcar_store_entry stores[] = {{.struct_size = sizeof(*stores), .url = BOXCAR_STR("sqlite:a.db")}, ...};
 *     boxcar_fleet_options fleet = BOXCAR_FLEET_OPTIONS_INIT;
 *     fleet.stores = stores;
 *     fleet.store_count = 2;
 *     worker_options.fleet = &fleet;
 *
 * Nothing spans stores: no transaction, no join, no stream. See docs/many-stores.md.
 *
 * Threads: the functions that are given here as callbacks are called from threads of the worker, never two of
 * one kind at a time. They must not call back into the worker; nor may the log function of a worker with many
 * stores. */
#ifndef BOXCAR_FLEET_H
#define BOXCAR_FLEET_H

#include "error.h"
#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A store, as a list names it. */
typedef struct boxcar_store_entry {
    size_t struct_size;
    boxcar_str url;    /* as in boxcar_store_options */
    boxcar_str schema; /* PostgreSQL; absent = the worker's */
    boxcar_str key;    /* what people and routers call it: a tenant; absent = it has no name */
} boxcar_store_entry;

#ifdef __cplusplus
#define BOXCAR_STORE_ENTRY_INIT (boxcar_store_entry{sizeof(boxcar_store_entry), {0, 0}, {0, 0}, {0, 0}})
#else
#define BOXCAR_STORE_ENTRY_INIT ((boxcar_store_entry){.struct_size = sizeof(boxcar_store_entry)})
#endif

/* The identifier of a store, without opening it: what boxcar_store_id() says of it. It is the same for every
 * process, has no secret in it, and stays when a user, a password or a parameter changes. SQLite: the whole path.
 * PostgreSQL: host, port, database and schema, so that databases of one name on two servers differ. At most
 * `size` bytes are written, the NUL among them; BOXCAR_E_INVALID when the URL cannot be read or `size` is too
 * small (BOXCAR_STORE_ID_SIZE is enough for everything). */
#define BOXCAR_STORE_ID_SIZE 4400
BOXCAR_API boxcar_status boxcar_store_identify(boxcar_str url, boxcar_str schema, char *ret_id, size_t size,
                                               boxcar_error *err);

/* ---- discovery: where the list comes from ---- */

/* A list that is being made. It is lent for the call. */
typedef struct boxcar_discovered boxcar_discovered;

/* Adds a store. Everything is copied. BOXCAR_E_INVALID: its URL cannot be used. */
BOXCAR_API boxcar_status boxcar_discovered_add(boxcar_discovered *list, const boxcar_store_entry *entry,
                                               boxcar_error *err);

/* Adds every store that there is now. If it fails, the last good list stays. */
typedef boxcar_status (*boxcar_discover_fn)(void *context, boxcar_discovered *list, boxcar_error *err);

typedef enum boxcar_discovery {
    BOXCAR_DISCOVERY_NONE = 0,      /* only the fixed list */
    BOXCAR_DISCOVERY_FUNCTION = 1,  /* `discover` */
    BOXCAR_DISCOVERY_FILE = 2,      /* a file with a store a line: URL, or KEY URL, or KEY URL SCHEMA, between
                                       blanks. Empty lines, and lines that begin with #, do not count */
    BOXCAR_DISCOVERY_DIRECTORY = 3, /* every file of a directory whose name ends in .db: an SQLite store each. The
                                       key is its name without .db */
    BOXCAR_DISCOVERY_SQL = 4,       /* a query against a control database: its rows are url, or key and url, or
                                       key, url and schema */
    BOXCAR_DISCOVERY_COMMAND = 5    /* what a program prints, in the form of the file. It has a minute */
} boxcar_discovery;

BOXCAR_API const char *boxcar_discovery_name(boxcar_discovery discovery); /* "file", "directory", ... */

/* ---- selection: which store claims next ---- */

typedef enum boxcar_selection {
    BOXCAR_SELECT_ROUND_ROBIN = 0, /* one batch of each store, in the order of the list */
    BOXCAR_SELECT_DRAIN_FIRST = 1  /* the same store until a claim brings nothing, then the next one */
} boxcar_selection;

BOXCAR_API const char *boxcar_selection_name(boxcar_selection selection); /* "round-robin", "drain-first" */

/* A store that would claim now. */
typedef struct boxcar_candidate {
    size_t struct_size;
    const char *store_id;
    boxcar_str key;
    int64_t order;     /* rises in the order of the list; 1 is the lowest */
    int64_t claimed;   /* how many messages its last claim brought; -1 = there was none */
    int64_t waited_ms; /* since it has wanted to claim */
} boxcar_candidate;

/* Returns the index of the candidate that claims next; any other number means the first one. There is at least
 * one; they are in their order. Called often and under a lock: it must be quick. */
typedef size_t (*boxcar_select_fn)(void *context, const boxcar_candidate *const *candidates, size_t count);

/* ---- options ---- */

#define BOXCAR_FLEET_REFRESH_MS_DEFAULT (INT64_C(5) * 60 * 1000)
#define BOXCAR_FLEET_REFRESH_MS_MIN 100
#define BOXCAR_FLEET_REFRESH_MS_MAX (INT64_C(24) * 60 * 60 * 1000)
#define BOXCAR_FLEET_CONNECTIONS_DEFAULT 16
#define BOXCAR_FLEET_CONNECTIONS_MAX 1024
#define BOXCAR_FLEET_IDLE_MS_DEFAULT 10000
#define BOXCAR_FLEET_IDLE_MS_MAX (INT64_C(24) * 60 * 60 * 1000)
#define BOXCAR_FLEET_LOOK_MS_DEFAULT 60000
#define BOXCAR_FLEET_LOOK_MS_MIN 1000
#define BOXCAR_FLEET_LOOK_MS_MAX (INT64_C(60) * 60 * 1000)
#define BOXCAR_FLEET_STORES_MAX 100000

typedef struct boxcar_fleet_options {
    size_t struct_size;
    const boxcar_store_entry *stores; /* always part of the fleet */
    size_t store_count;
    boxcar_discovery discovery;
    boxcar_str where;            /* the file, the directory, the control database's URL, or the command */
    boxcar_str query;            /* of BOXCAR_DISCOVERY_SQL; absent = "select url from stores" */
    boxcar_discover_fn discover; /* of BOXCAR_DISCOVERY_FUNCTION */
    void *discover_context;
    int64_t refresh_ms;          /* between discoveries, 100 ms to 24 h */
    boxcar_selection selection;
    boxcar_select_fn select;     /* instead of `selection`; NULL = none */
    void *select_context;
    int connections;             /* stores in use at a time, 1 to 1,024. Upkeep uses one more connection, and so
                                    does a handler that opens a transaction. Policies use up to eight more, and
                                    up to 16 idle ones are kept for them for five seconds */
    int64_t idle_ms;             /* how long a store without work keeps its connection, 0 to 24 h */
    int64_t look_ms;             /* longest pause between looks at a store without a connection, 1 s to 1 h; with
                                    few stores it is shorter: all of them together are looked at about three
                                    times a second. An SQLite file that changes is looked at within poll_ms */
} boxcar_fleet_options;

#ifdef __cplusplus
#define BOXCAR_FLEET_OPTIONS_INIT (boxcar_fleet_options{sizeof(boxcar_fleet_options), 0, 0, \
    BOXCAR_DISCOVERY_NONE, {0, 0}, {0, 0}, 0, 0, BOXCAR_FLEET_REFRESH_MS_DEFAULT, BOXCAR_SELECT_ROUND_ROBIN, \
    0, 0, BOXCAR_FLEET_CONNECTIONS_DEFAULT, BOXCAR_FLEET_IDLE_MS_DEFAULT, BOXCAR_FLEET_LOOK_MS_DEFAULT})
#else
#define BOXCAR_FLEET_OPTIONS_INIT ((boxcar_fleet_options){.struct_size = sizeof(boxcar_fleet_options), \
    .refresh_ms = BOXCAR_FLEET_REFRESH_MS_DEFAULT, .connections = BOXCAR_FLEET_CONNECTIONS_DEFAULT, \
    .idle_ms = BOXCAR_FLEET_IDLE_MS_DEFAULT, .look_ms = BOXCAR_FLEET_LOOK_MS_DEFAULT})
#endif

/* The list that these options name now, without a worker: the fixed list, then what discovery finds. Items are
 * found_store; free it with boxcar_list_free(). BOXCAR_E_CONFLICT: two entries are one store. */
typedef struct boxcar_found_store {
    const char *id;
    boxcar_str url, schema, key; /* the schema is set */
} boxcar_found_store;

typedef struct boxcar_found_store_list {
    const boxcar_found_store *const *items;
    size_t count;
} boxcar_found_store_list;

BOXCAR_API boxcar_status boxcar_store_discover(const boxcar_fleet_options *options, boxcar_str default_schema,
                                               boxcar_found_store_list **ret_list, boxcar_error *err);

/* ---- what a worker knows of its stores ---- */

typedef enum boxcar_fleet_state {
    BOXCAR_FLEET_WAITING = 0, /* for a connection */
    BOXCAR_FLEET_ACTIVE = 1,  /* it has one */
    BOXCAR_FLEET_IDLE = 2,    /* it has none and needs none */
    BOXCAR_FLEET_DOWN = 3,    /* it cannot be used; it is tried less and less often */
    BOXCAR_FLEET_LEAVING = 4  /* no longer in the list: it finishes what it holds */
} boxcar_fleet_state;

BOXCAR_API const char *boxcar_fleet_state_name(boxcar_fleet_state state);

typedef struct boxcar_fleet_store {
    const char *id;
    boxcar_str key;
    boxcar_fleet_state state;
    int64_t claims, claimed;   /* since the worker started */
    int64_t held;              /* queued or in handlers now */
    int64_t reaped;            /* by upkeep */
    int64_t store_errors;
    int64_t failures;          /* tries in a row that failed; 0 = it works */
    boxcar_str error;          /* the last of them; absent = none */
} boxcar_fleet_store;

typedef struct boxcar_fleet_store_list {
    const boxcar_fleet_store *const *items;
    size_t count;
} boxcar_fleet_store_list;

/* boxcar_worker_fleet_read() of boxcar/worker.h gives this list. */

#ifdef __cplusplus
}
#endif
#endif
