/* Keys, where their stores are, and the stores that are open.
 *
 * Routes are found by a hash of their key. Open stores are a list, the one used last in front. */
#include "boxcar/router.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/utf8.h"
#include "check.h"
#include "store/open.h"

#define KEY_MAX 255

struct handle {
    struct handle *next;
    char *id;
    boxcar_store *store;
};

struct route {
    struct route *next; /* of the same slot */
    struct arena arena; /* of the texts; the route is in it itself */
    boxcar_str key, url, schema;
    char *id;
    struct handle *handle; /* NULL = its store is not open */
    bool is_fixed;
};

struct boxcar_router {
    struct arena arena;
    boxcar_store_options store; /* texts in the arena */
    boxcar_route_fn route;
    void *route_context;
    size_t most_open, open;
    struct handle *handles;
    struct route **slots;
    size_t slot_count, route_count, learnt_count; /* learnt: what the function said */
};

/* Keys may be many although they lead to few stores: then all stores are closed, and everything is asked
 * again. */
#define LEARNT_MAX 100000

/* ---- keys ---- */

/* A text that reads as a UUID is that UUID, in one spelling. */
static boxcar_str spell(boxcar_str key, char room[BOXCAR_UUID_TEXT_SIZE]) {
    boxcar_uuid uuid;
    if (!boxcar_uuid_parse(key, &uuid))
        return key;
    boxcar_uuid_format(uuid, room);
    return boxcar_str_of(room);
}

static boxcar_status check_key(boxcar_str key, boxcar_error *err) {
    if (str_is_empty(key))
        return error_invalid(err, "key", "key is empty: say whose store it is");
    return limits_check_text(key, "key", KEY_MAX, err);
}

/* ---- routes ---- */

static struct route **slot_of(const boxcar_router *router, boxcar_str key) {
    return &router->slots[str_hash(key, 0) % router->slot_count];
}

static struct route *find_route(const boxcar_router *router, boxcar_str key) {
    struct route *route = router->slot_count > 0 ? *slot_of(router, key) : NULL;
    while (route && !str_equal(route->key, key))
        route = route->next;
    return route;
}

static bool grow(boxcar_router *router) {
    size_t count = router->slot_count > 0 ? router->slot_count * 2 : 64;
    struct route **before = router->slots, **slots = calloc(count, sizeof(*slots));
    size_t count_before = router->slot_count;
    if (!slots)
        return false;
    router->slots = slots;
    router->slot_count = count;
    for (size_t i = 0; i < count_before; i++)
        for (struct route *route = before[i], *next; route; route = next) {
            next = route->next;
            struct route **slot = slot_of(router, route->key);
            route->next = *slot;
            *slot = route;
        }
    free(before);
    return true;
}

static void free_route(struct route *route) {
    free(route->id);
    struct arena arena = route->arena;
    arena_release(&arena);
}

static bool copy_route(struct arena *arena, const boxcar_router *router, boxcar_str key,
                       const boxcar_store_entry *entry, struct route *route) {
    boxcar_str schema = str_is_empty(entry->schema) ? router->store.schema : entry->schema;
    return arena_copy_str(arena, key, &route->key) && arena_copy_str(arena, entry->url, &route->url) &&
           arena_copy_str(arena, schema, &route->schema);
}

static boxcar_status make_route(const boxcar_router *router, boxcar_str key, const boxcar_store_entry *entry,
                                struct route **ret_route, boxcar_error *err) {
    struct arena arena = ARENA_INIT;
    struct route *route = arena_alloc(&arena, sizeof(*route));
    boxcar_status status = route && copy_route(&arena, router, key, entry, route)
                               ? store_identify(route->url, route->schema, &route->id, err)
                               : error_no_memory(err);
    if (status != BOXCAR_OK) {
        arena_release(&arena);
        return status;
    }
    route->arena = arena;
    *ret_route = route;
    return BOXCAR_OK;
}

static void remove_route(boxcar_router *router, struct route **at) {
    struct route *gone = *at;
    *at = gone->next;
    router->route_count--;
    router->learnt_count -= !gone->is_fixed;
    free_route(gone);
}

static boxcar_status add_route(boxcar_router *router, boxcar_str key, const boxcar_store_entry *entry,
                               struct route **ret_route, boxcar_error *err) {
    struct route *route;
    TRY(limits_check_text(entry->url, "url", SIZE_MAX, err));
    TRY(limits_check_schema_name(entry->schema, err));
    if (router->route_count >= router->slot_count && !grow(router))
        return error_no_memory(err);
    TRY(make_route(router, key, entry, &route, err));
    struct route **slot = slot_of(router, key);
    route->next = *slot;
    *slot = route;
    router->route_count++;
    *ret_route = route;
    return BOXCAR_OK;
}

/* ---- open stores ---- */

/* What the function said of a store counts while that is open. */
static void detach_routes(boxcar_router *router, const struct handle *handle) {
    for (size_t i = 0; i < router->slot_count; i++)
        for (struct route **at = &router->slots[i]; *at;) {
            struct route *route = *at;
            if (route->handle == handle && !route->is_fixed) {
                remove_route(router, at);
                continue;
            }
            if (route->handle == handle)
                route->handle = NULL;
            at = &route->next;
        }
}

static void free_handle(struct handle *handle) {
    boxcar_store_close(handle->store);
    free(handle->id);
    free(handle);
}

static void close_handle(boxcar_router *router, struct handle **at) {
    struct handle *handle = *at;
    *at = handle->next;
    router->open--;
    detach_routes(router, handle);
    free_handle(handle);
}

static void close_oldest(boxcar_router *router) {
    struct handle **at = &router->handles;
    while (*at && (*at)->next)
        at = &(*at)->next;
    if (*at)
        close_handle(router, at);
}

static struct handle *find_handle(const boxcar_router *router, const char *id) {
    struct handle *handle = router->handles;
    while (handle && strcmp(handle->id, id) != 0)
        handle = handle->next;
    return handle;
}

static void move_to_front(boxcar_router *router, struct handle *handle) {
    struct handle **at = &router->handles;
    while (*at != handle)
        at = &(*at)->next;
    *at = handle->next;
    handle->next = router->handles;
    router->handles = handle;
}

static boxcar_status open_handle(boxcar_router *router, struct route *route, struct handle **ret_handle,
                                 boxcar_error *err) {
    boxcar_store_options options = router->store;
    options.url = route->url;
    options.schema = route->schema;
    struct handle *handle = calloc(1, sizeof(*handle));
    char *id = handle ? strdup(route->id) : NULL;
    boxcar_status status = id ? boxcar_store_open(&options, &handle->store, err) : error_no_memory(err);
    if (status != BOXCAR_OK) {
        free(handle);
        free(id);
        return status;
    }
    while (router->open >= router->most_open)
        close_oldest(router);
    handle->id = id;
    handle->next = router->handles;
    router->handles = handle;
    router->open++;
    *ret_handle = handle;
    return BOXCAR_OK;
}

/* ---- finding ---- */

static boxcar_status refuse_unknown(boxcar_str key, boxcar_error *err) {
    error_set(err, BOXCAR_E_NOT_FOUND, "no store is known for the key '%.*s'",
              (int)(key.len < 255 ? key.len : 255), key.data);
    if (err)
        memcpy(err->argument, "key", sizeof("key"));
    return BOXCAR_E_NOT_FOUND;
}

static boxcar_status ask(boxcar_router *router, boxcar_str key, struct route **ret_route, boxcar_error *err) {
    boxcar_store_entry entry = BOXCAR_STORE_ENTRY_INIT;
    if (!router->route)
        return refuse_unknown(key, err);
    boxcar_status status = router->route(router->route_context, key, &entry, err);
    if (status == BOXCAR_E_NOT_FOUND)
        return refuse_unknown(key, err);
    TRY(status);
    while (router->learnt_count >= LEARNT_MAX && router->handles)
        close_oldest(router);
    TRY(add_route(router, key, &entry, ret_route, err));
    router->learnt_count++;
    return BOXCAR_OK;
}

/* The place of a route that is there. */
static struct route **place_of(const boxcar_router *router, const struct route *route) {
    struct route **at = slot_of(router, route->key);
    while (*at != route)
        at = &(*at)->next;
    return at;
}

/* The store of a route, opened if it is not. A route that leads nowhere is not kept. */
static boxcar_status reach(boxcar_router *router, struct route *route, struct handle **ret_handle,
                           boxcar_error *err) {
    struct handle *handle = route->handle ? route->handle : find_handle(router, route->id);
    if (handle) {
        move_to_front(router, handle);
    } else {
        boxcar_status status = open_handle(router, route, &handle, err);
        if (status != BOXCAR_OK && !route->is_fixed)
            remove_route(router, place_of(router, route));
        TRY(status);
    }
    route->handle = *ret_handle = handle;
    return BOXCAR_OK;
}

boxcar_status boxcar_router_find(boxcar_router *router, boxcar_str key, boxcar_store **ret_store,
                                 boxcar_error *err) {
    char room[BOXCAR_UUID_TEXT_SIZE];

    TRY(check_given(router, "router", err));
    TRY(check_given(ret_store, "ret_store", err));
    TRY(check_key(key, err));
    key = spell(key, room);
    struct route *route = find_route(router, key);
    if (!route)
        TRY(ask(router, key, &route, err));
    struct handle *handle;
    TRY(reach(router, route, &handle, err));
    *ret_store = handle->store;
    return BOXCAR_OK;
}

boxcar_status boxcar_router_find_id(boxcar_router *router, boxcar_uuid key, boxcar_store **ret_store,
                                    boxcar_error *err) {
    char text[BOXCAR_UUID_TEXT_SIZE];

    boxcar_uuid_format(key, text);
    return boxcar_router_find(router, boxcar_str_of(text), ret_store, err);
}

void boxcar_router_forget(boxcar_router *router, boxcar_str key) {
    char room[BOXCAR_UUID_TEXT_SIZE];
    struct route *route = router && key.data ? find_route(router, spell(key, room)) : NULL;

    if (!route)
        return;
    struct handle **at = &router->handles;
    while (*at && strcmp((*at)->id, route->id) != 0)
        at = &(*at)->next;
    if (*at)
        close_handle(router, at); /* and what the function said of it */
}

/* ---- made and freed ---- */

static boxcar_status add_fixed(boxcar_router *router, const boxcar_store_entry *entry, boxcar_error *err) {
    char room[BOXCAR_UUID_TEXT_SIZE];
    struct route *route;
    TRY(check_key(entry->key, err));
    boxcar_str key = spell(entry->key, room);
    if (find_route(router, key)) {
        error_invalid(err, "key", "the key '%.*s' is there twice: give each store a key of its own",
                      (int)(key.len < 255 ? key.len : 255), key.data);
        if (err)
            err->status = BOXCAR_E_CONFLICT;
        return BOXCAR_E_CONFLICT;
    }
    TRY(add_route(router, key, entry, &route, err));
    route->is_fixed = true;
    return BOXCAR_OK;
}

static boxcar_status add_all(boxcar_router *router, const boxcar_router_options *options, boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    const boxcar_store_entry *stores = options->stores;
    if (options->store_count > 0 && !stores)
        return error_invalid(err, "stores", "stores is NULL: store_count says otherwise");
    TRY(OPTIONS_READ_ARRAY(&arena, BOXCAR_STORE_ENTRY_INIT, &stores, options->store_count, "stores", err));
    for (size_t i = 0; i < options->store_count; i++)
        TRY(error_locate_item(add_fixed(router, &stores[i], err), "stores", i, err));
    return BOXCAR_OK;
}

static boxcar_status copy_options(boxcar_router *router, const boxcar_router_options *options,
                                  boxcar_error *err) {
    static const boxcar_store_options standard = BOXCAR_STORE_OPTIONS_INIT;
    if (options->most_open < 1 || options->most_open > BOXCAR_ROUTER_OPEN_MAX)
        return error_invalid(err, "most_open", "most_open is %d: give 1 to %d", options->most_open,
                             BOXCAR_ROUTER_OPEN_MAX);
    TRY(store_options_read(options->store ? options->store : &standard, &router->store, err));
    router->store.struct_size = sizeof(router->store);
    router->store.url = BOXCAR_NO_STR;
    router->most_open = (size_t)options->most_open;
    router->route = options->route;
    router->route_context = options->route_context;
    if (!arena_copy_str(&router->arena, router->store.schema, &router->store.schema))
        return error_no_memory(err);
    return add_all(router, options, err);
}

boxcar_status boxcar_router_new(const boxcar_router_options *given, boxcar_router **ret_router,
                                boxcar_error *err) {
    boxcar_router_options options = BOXCAR_ROUTER_OPTIONS_INIT;

    TRY(check_given(ret_router, "ret_router", err));
    TRY(options_read(&options, sizeof(options), given, "options", err));
    boxcar_router *router = calloc(1, sizeof(*router));
    boxcar_status status = router ? copy_options(router, &options, err) : error_no_memory(err);
    if (status == BOXCAR_OK)
        *ret_router = router;
    else
        boxcar_router_free(router);
    return status;
}

void boxcar_router_free(boxcar_router *router) {
    if (!router)
        return;
    while (router->handles) {
        struct handle *handle = router->handles;
        router->handles = handle->next;
        free_handle(handle);
    }
    for (size_t i = 0; i < router->slot_count; i++)
        for (struct route *route = router->slots[i], *next; route; route = next) {
            next = route->next;
            free_route(route);
        }
    free(router->slots);
    arena_release(&router->arena);
    free(router);
}
