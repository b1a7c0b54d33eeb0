/* Other stores: the copies go there first, then the sources are acked. A copy that comes again is a
 * duplicate there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/utf8.h"
#include "core/fanout.h"
#include "request/request.h"
#include "store/open.h"
#include "visit.h"

#define SHOWN_MAX 100 /* bytes of a name in an error */
#define STALE_MS 1000 /* a connection that had broken is found out before */

/* A store that messages go to, for a while. */
struct place {
    boxcar_store_options options;
    char *id;
    struct boxcar_store *store;
    bool is_used; /* its connection may have broken since it was used last */
    boxcar_box box;
};

static boxcar_status place_open(struct visit *visit, struct place *place, boxcar_error *err) {
    return pool_take(visit->forwarding, &place->options, place->id, &place->store, &place->is_used, err);
}

static void place_close(struct visit *visit, struct place *place, bool is_good) {
    pool_give(visit->forwarding, place->store, place->id, is_good);
    place->store = NULL;
}

/* BOXCAR_E_NOT_FOUND = the worker has no such store. Any other error: it has, and cannot use it now. */
static boxcar_status place_find(struct visit *visit, boxcar_str key, struct arena *arena,
                                struct place *ret_place, boxcar_error *err) {
    const struct forwarding *forwarding = visit->forwarding;
    struct place place = {.options = visit->source->options};
    TRY(forwarding->locate(forwarding->stores, key, arena, &place.options.url, &place.options.schema, err));
    TRY(store_identify(place.options.url, place.options.schema, &place.id, err));
    *ret_place = place;
    return BOXCAR_OK;
}

/* ---- sending ---- */

static boxcar_status store_copies(const struct visit *visit, struct place *place, struct item *const *items,
                                  size_t count, boxcar_error *err) {
    AUTO_RESULT struct result result = {.arena = ARENA_INIT};
    AUTO_FREE boxcar_new_message *messages = malloc(count * sizeof(*messages));
    struct request request = {.base.sent_before = false};
    if (!messages)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++)
        messages[i] = items[i]->copies[0];
    request.base.messages[place->box] = (boxcar_new_message_list){messages, count};
    visit_shorten(visit, place->store);
    TRY(request_run(place->store, &request, &result, err));
    visit->forwarding->arrived(visit->forwarding->stores, place->id);
    return BOXCAR_OK;
}

/* A connection that was not used for a while may have broken meanwhile: that says nothing about the store. It
 * is found out at once; what takes long is the store. However the store refuses a new connection, its copies
 * were not refused: it is away. */
static boxcar_status send_there(struct visit *visit, struct item *const *items, size_t count, void *context,
                                boxcar_error *err) {
    struct place *place = context;
    int64_t began_ms = clock_ms();
    boxcar_status status = store_copies(visit, place, items, count, err);
    if (status != BOXCAR_E_UNAVAILABLE || !place->is_used || clock_ms() - began_ms >= STALE_MS ||
        atomic_load(&visit->forwarding->stopping))
        return status;
    place_close(visit, place, false);
    if (place_open(visit, place, err) != BOXCAR_OK)
        return err->status = BOXCAR_E_UNAVAILABLE;
    place->is_used = false;
    return store_copies(visit, place, items, count, err);
}

/* ---- one store ---- */

enum visit_end remote_open(struct visit *visit) {
    struct destination destination;
    struct place place;
    if (destination_parse(visit->route->destinations[0], "destination", &destination, NULL) != BOXCAR_OK)
        return VISIT_UNKNOWN;
    boxcar_status status = place_find(visit, destination.store, &visit->arena, &place, &visit->err);
    if (status != BOXCAR_OK)
        return status == BOXCAR_E_NOT_FOUND ? VISIT_UNKNOWN : VISIT_AWAY;
    visit->there_id = place.id;
    visit->there_options = place.options;
    visit->box_there = destination.box;
    visit->next_pause_ms = breaker_next_pause_ms(&visit->route->breaker);
    if (place_open(visit, &place, &visit->err) != BOXCAR_OK)
        return VISIT_AWAY;
    visit->there = place.store;
    return VISIT_EMPTY;
}

void remote_close(struct visit *visit) {
    if (visit->there)
        pool_give(visit->forwarding, visit->there, visit->there_id, !visit->is_away);
    free(visit->there_id);
    visit->there = NULL;
    visit->there_id = NULL;
    arena_release(&visit->arena);
}

static struct item **to_send(struct batch *batch, size_t *ret_count) {
    struct item **items = arena_alloc_array(&batch->arena, batch->count, sizeof(*items));
    size_t count = 0;
    for (size_t i = 0; items && i < batch->count; i++)
        if (batch->items[i].end == ITEM_SEND)
            items[count++] = &batch->items[i];
    *ret_count = count;
    return items;
}

void remote_deliver(struct visit *visit, struct batch *batch) {
    struct place place = {.options = visit->there_options,
                          .id = visit->there_id,
                          .store = visit->there,
                          .is_used = true,
                          .box = visit->box_there};
    boxcar_error err = BOXCAR_ERROR_INIT;
    size_t count;
    struct item **items = to_send(batch, &count);
    boxcar_status status =
        items ? batch_deliver(visit, batch, items, count, ITEM_SENT, send_there, &place, &err)
              : error_no_memory(&err);
    visit->there = place.store;
    if (status == BOXCAR_OK)
        return;
    visit->is_away = true;
    visit->err = err;
    batch_put_off(batch, 0);
}

/* ---- tenants ---- */

static struct tenant *tenant_find(const struct route *route, boxcar_str key) {
    struct tenant *tenant = route->tenants;
    while (tenant && !str_equal(boxcar_str_of(tenant->key), key))
        tenant = tenant->next;
    return tenant;
}

static struct tenant *tenant_add(struct route *route, boxcar_str key) {
    struct tenant *tenant = calloc(1, sizeof(*tenant));
    char *copy = tenant ? memory_copy_text(key) : NULL;
    if (!copy) {
        free(tenant);
        return NULL;
    }
    tenant->key = copy;
    tenant->next = route->tenants;
    route->tenants = tenant;
    atomic_fetch_add(&route->away_tenants, 1);
    return tenant;
}

static void tenant_remove(struct route *route, struct tenant *gone) {
    struct tenant **at = &route->tenants;
    while (*at != gone)
        at = &(*at)->next;
    *at = gone->next;
    free(gone->key);
    free(gone);
    atomic_fetch_sub(&route->away_tenants, 1);
}

void tenants_free(struct route *route) {
    while (route->tenants)
        tenant_remove(route, route->tenants);
}

static double chance(const struct visit *visit) {
    return (double)(visit->claimed_at_ms % 97) / 97; /* as good as any */
}

static void log_tenant(const struct visit *visit, boxcar_str key, const boxcar_error *err) {
    const boxcar_log_field fields[] = {{"route", visit->route->name}, {"key", key}};
    if (err)
        store_log(visit->store, BOXCAR_LOG_WARN, "forward_away", fields, 2,
                  "the store of a tenant cannot be used, its messages wait: %s", err->message);
    else
        store_log(visit->store, BOXCAR_LOG_INFO, "forward_back", fields, 2,
                  "the store of a tenant takes messages again");
}

/* Its messages wait, and nobody else's. */
static int64_t tenant_fail(struct visit *visit, boxcar_str key, const boxcar_error *err) {
    struct tenant *tenant = tenant_find(visit->route, key);
    int64_t now = clock_ms();
    if (!tenant)
        tenant = tenant_add(visit->route, key);
    if (!tenant)
        return BREAKER_FIRST_MS;
    if (breaker_fail(&tenant->breaker, now, chance(visit)))
        log_tenant(visit, key, err);
    atomic_fetch_add(&visit->route->stats->failures, 1);
    return tenant->breaker.until_ms - now;
}

static void tenant_worked(struct visit *visit, boxcar_str key) {
    struct tenant *tenant = tenant_find(visit->route, key);
    if (!tenant)
        return;
    tenant_remove(visit->route, tenant);
    log_tenant(visit, key, NULL);
}

/* Its store is none of the worker's any more. */
static void tenant_forget(struct visit *visit, boxcar_str key) {
    struct tenant *tenant = tenant_find(visit->route, key);
    if (tenant)
        tenant_remove(visit->route, tenant);
}

static void end_all(struct batch *batch, struct item **items, size_t count, enum item_end end,
                    int64_t delay_ms, const char *error) {
    for (size_t i = 0; i < count; i++)
        if (items[i]->end == ITEM_SEND)
            item_end(batch, items[i], end, delay_ms, error);
    batch_hold_streams(batch);
}

static void refuse_unknown(struct visit *visit, struct batch *batch, struct item **items, size_t count) {
    char text[400];
    boxcar_str key = utf8_cut(items[0]->key, SHOWN_MAX);
    struct destination destination;
    boxcar_str header = BOXCAR_NO_STR;
    if (destination_parse(visit->route->destinations[0], "destination", &destination, NULL) == BOXCAR_OK)
        header = utf8_cut(destination.header, SHOWN_MAX);
    snprintf(text, sizeof(text), "no store of this worker has the key \"%.*s\", the value of header %.*s",
             (int)key.len, key.data, (int)header.len, header.data);
    atomic_fetch_add(&visit->route->stats->failures, (int64_t)count);
    end_all(batch, items, count, ITEM_ABANDON, BOXCAR_BACKOFF, text);
}

static void deliver_group(struct visit *visit, struct batch *batch, struct item **items, size_t count) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    boxcar_str key = items[0]->key;
    const struct tenant *tenant = tenant_find(visit->route, key);
    struct place place = {.store = NULL};
    boxcar_error err = BOXCAR_ERROR_INIT;
    int64_t now = clock_ms();
    if (tenant && breaker_blocks(&tenant->breaker, now)) {
        end_all(batch, items, count, ITEM_DEFER, tenant->breaker.until_ms - now, NULL);
        return;
    }
    boxcar_status status = place_find(visit, key, &arena, &place, &err);
    if (status == BOXCAR_E_NOT_FOUND) {
        tenant_forget(visit, key);
        refuse_unknown(visit, batch, items, count);
        return;
    }
    visit->has_worked = false; /* that store */
    visit->next_pause_ms =
        breaker_next_pause_ms(tenant ? &tenant->breaker : &(struct breaker){.failures = 0});
    if (status == BOXCAR_OK)
        status = place_open(visit, &place, &err);
    if (status == BOXCAR_OK)
        status = batch_deliver(visit, batch, items, count, ITEM_SENT, send_there, &place, &err);
    if (status == BOXCAR_OK)
        tenant_worked(visit, key);
    else
        end_all(batch, items, count, ITEM_DEFER, tenant_fail(visit, key, &err), NULL);
    place_close(visit, &place, status == BOXCAR_OK);
    free(place.id);
}

/* An earlier message of its stream, for another tenant, has not gone yet. */
static bool is_behind_another(const struct batch *batch, size_t i, boxcar_str key) {
    const struct item *item = &batch->items[i];
    if (str_is_empty(item->source->stream))
        return false;
    for (size_t before = 0; before < i; before++) {
        const struct item *other = &batch->items[before];
        if (other->end == ITEM_SEND && !str_equal(other->key, key) &&
            str_equal(other->source->stream, item->source->stream))
            return true;
    }
    return false;
}

/* The messages for the tenant of the first one that is to be sent, of those tenants whose store fails, or of
 * the others. */
static size_t next_group(const struct visit *visit, const struct batch *batch, bool fails,
                         struct item **ret_items) {
    size_t count = 0;
    for (size_t i = 0; i < batch->count; i++) {
        struct item *item = &batch->items[i];
        if (item->end != ITEM_SEND || (count > 0 && !str_equal(item->key, ret_items[0]->key)))
            continue;
        if (count == 0 && fails != (tenant_find(visit->route, item->key) != NULL))
            continue;
        if (!is_behind_another(batch, i, item->key))
            ret_items[count++] = item;
    }
    return count;
}

/* Tenants whose stores fail come last, and one of them is tried, so that the others do not wait for them. */
void tenant_deliver(struct visit *visit, struct batch *batch) {
    struct item **items = arena_alloc_array(&batch->arena, batch->count, sizeof(*items));
    size_t count;
    bool has_tried = false;
    while (items && !visit_is_over(visit) && (count = next_group(visit, batch, false, items)) > 0)
        deliver_group(visit, batch, items, count);
    while (items && !visit_is_over(visit) && (count = next_group(visit, batch, true, items)) > 0) {
        const struct tenant *tenant = tenant_find(visit->route, items[0]->key);
        if (has_tried && !breaker_blocks(&tenant->breaker, clock_ms())) {
            end_all(batch, items, count, ITEM_DEFER, BREAKER_FIRST_MS, NULL);
            continue;
        }
        has_tried = has_tried || !breaker_blocks(&tenant->breaker, clock_ms());
        deliver_group(visit, batch, items, count);
    }
    batch_put_off(batch, 0);
}
