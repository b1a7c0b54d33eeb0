/* boxcar/router.h: finds the store of a key, such as a tenant, and keeps it open.
 *
 *     boxcar_router_options options = BOXCAR_ROUTER_OPTIONS_INIT;
 *     options.stores = entries;                 KEY and URL of each
 *     options.store_count = 2;
 *     boxcar_router_new(&options, &router, &err);
 *     boxcar_router_find(router, BOXCAR_STR("acme"), &store, &err);
 *     boxcar_enqueue(store, &message, NULL, &err);
 *     boxcar_router_free(router);
 *
 * Keys are texts or UUIDs. A UUID is the same key in any spelling: a text that reads as a UUID is one.
 *
 * Threads: a router, and the stores that it lends, are used by one thread at a time, as a store is. Make one router
 * per thread; they share nothing. */
#ifndef BOXCAR_ROUTER_H
#define BOXCAR_ROUTER_H

#include "error.h"
#include "fleet.h"
#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct boxcar_router boxcar_router;

/* Where the store of a key is. *ret_entry's texts are lent until the next call. BOXCAR_E_NOT_FOUND: there is no
 * such key. Called when a key is not known yet, or its store has to be opened again. */
typedef boxcar_status (*boxcar_route_fn)(void *context, boxcar_str key, boxcar_store_entry *ret_entry,
                                         boxcar_error *err);

#define BOXCAR_ROUTER_OPEN_DEFAULT 64
#define BOXCAR_ROUTER_OPEN_MAX 10000

typedef struct boxcar_router_options {
    size_t struct_size;
    const boxcar_store_options *store; /* how stores are opened; its url does not count. NULL = the defaults */
    const boxcar_store_entry *stores;  /* a fixed table: each with its key. Copied */
    size_t store_count;
    boxcar_route_fn route;             /* asked for a key that is not in the table; NULL = nobody */
    void *route_context;
    int most_open;                     /* stores that stay open; the one that was not used for longest is closed
                                          for another. 1 to 10,000 */
} boxcar_router_options;

#ifdef __cplusplus
#define BOXCAR_ROUTER_OPTIONS_INIT (boxcar_router_options{sizeof(boxcar_router_options), 0, 0, 0, 0, 0, \
    BOXCAR_ROUTER_OPEN_DEFAULT})
#else
#define BOXCAR_ROUTER_OPTIONS_INIT ((boxcar_router_options){.struct_size = sizeof(boxcar_router_options), \
    .most_open = BOXCAR_ROUTER_OPEN_DEFAULT})
#endif

/* Makes a router; nothing is opened yet. BOXCAR_E_INVALID: an entry has no key; BOXCAR_E_CONFLICT: two have the
 * same. The caller owns *ret_router. */
BOXCAR_API boxcar_status boxcar_router_new(const boxcar_router_options *options, boxcar_router **ret_router,
                                           boxcar_error *err);

/* The store of a key, opened if it is not. *ret_store is lent until the next call of boxcar_router_find() or
 * boxcar_router_find_id(), boxcar_router_forget(), or the router's end. BOXCAR_E_NOT_FOUND: no store has this
 * key; the error's text names it. Two keys with one store share its handle. */
BOXCAR_API boxcar_status boxcar_router_find(boxcar_router *router, boxcar_str key, boxcar_store **ret_store,
                                            boxcar_error *err);
BOXCAR_API boxcar_status boxcar_router_find_id(boxcar_router *router, boxcar_uuid key, boxcar_store **ret_store,
                                               boxcar_error *err);

/* Closes the store of a key, and forgets what `route` said of it: the next find asks again. An unknown key is
 * fine. */
BOXCAR_API void boxcar_router_forget(boxcar_router *router, boxcar_str key);

/* Closes all stores. NULL is fine. */
BOXCAR_API void boxcar_router_free(boxcar_router *router);

#ifdef __cplusplus
}
#endif
#endif
