#include "visit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/utf8.h"
#include "choice.h"
#include "request/refusal.h"
#include "request/request.h"

static bool is_removed(const boxcar_error *err) {
    return err->status == BOXCAR_E_NOT_FOUND && strcmp(err->argument, "subscription") == 0;
}

static int claim_size(const struct visit *visit) {
    return visit->route->kind == ROUTE_SCATTER ? scatter_claim_size(visit->route) : FORWARD_BATCH;
}

static bool claims_more(const struct visit *visit) {
    return !atomic_load(&visit->forwarding->stopping) && !visit->is_away &&
           clock_ms() - visit->began_ms < FORWARD_VISIT_MS;
}

static void log_batch(const struct visit *visit, const struct batch *batch) {
    size_t went = 0;
    char text[24];
    if (!store_logs(visit->store, BOXCAR_LOG_DEBUG))
        return;
    for (size_t i = 0; i < batch->count; i++)
        went += batch->items[i].end == ITEM_SENT || batch->items[i].end == ITEM_DONE ||
                batch->items[i].end == ITEM_SEND;
    snprintf(text, sizeof(text), "%zu", went);
    const boxcar_log_field fields[] = {{"route", visit->route->name}, {"count", boxcar_str_of(text)}};
    store_log(visit->store, BOXCAR_LOG_DEBUG, "forward", fields, 2, "forwarded %s of %zu messages", text,
              batch->count);
}

/* Each message by itself, until those that the store refuses are found. */
static boxcar_status search(struct visit *visit, struct batch *batch, boxcar_error *err) {
    struct item **items = arena_alloc_array(&batch->arena, batch->count, sizeof(*items));
    size_t count = 0;
    if (!items)
        return error_no_memory(err);
    for (size_t i = 0; i < batch->count; i++)
        if (batch->items[i].end == ITEM_SEND)
            items[count++] = &batch->items[i];
    visit->has_worked = true; /* the claim */
    return batch_deliver(visit, batch, items, count, ITEM_DONE, local_send, NULL, err);
}

/* Within a store copies, acks and the next claim are one request. Only if that is refused, the copies go
 * apart. */
static boxcar_status settle_local(struct visit *visit, struct batch *batch, int size,
                                  struct result *ret_result, boxcar_error *err) {
    boxcar_error why = BOXCAR_ERROR_INIT;
    boxcar_status status = batch_settle(visit, batch, true, size, ret_result, &why);
    if (status == BOXCAR_OK || refusal_of(status) == REFUSAL_NONE || is_removed(&why)) {
        if (status != BOXCAR_OK)
            *err = why;
        return status;
    }
    TRY(search(visit, batch, err));
    return batch_settle(visit, batch, false, size, ret_result, err);
}

/* What is claimed while the worker stops goes back. */
static boxcar_status deliver(struct visit *visit, struct batch *batch, boxcar_error *err) {
    if (atomic_load(&visit->forwarding->stopping)) {
        batch_put_off(batch, 0);
        return BOXCAR_OK;
    }
    switch (visit->route->kind) {
    case ROUTE_STORE:
        remote_deliver(visit, batch);
        break;
    case ROUTE_TENANT:
        tenant_deliver(visit, batch);
        break;
    case ROUTE_SCATTER:
        return scatter_deliver(visit, batch, err);
    case ROUTE_LOCAL:
        break;
    }
    return BOXCAR_OK;
}

static boxcar_status settle(struct visit *visit, struct batch *batch, int size, struct result *ret_result,
                            boxcar_error *err) {
    TRY(deliver(visit, batch, err));
    size = claims_more(visit) ? size : 0;
    if (visit->route->kind == ROUTE_LOCAL)
        return settle_local(visit, batch, size, ret_result, err);
    return batch_settle(visit, batch, false, size, ret_result, err);
}

static boxcar_status renew_returned(struct visit *visit, const struct result *claimed, boxcar_error *err) {
    const struct part_result *part = &claimed->parts[request_index(visit->route->reader)];
    return part->returned_count > 0 ? batch_renew(visit, part->returned, part->returned_count, err)
                                    : BOXCAR_OK;
}

/* One batch: makes and stores the copies of what was claimed, and claims again. */
static boxcar_status pass_on(struct visit *visit, const struct result *claimed, struct result *ret_next,
                             boxcar_error *err) {
    struct batch batch;
    TRY(renew_returned(visit, claimed, err));
    TRY(batch_make(visit, claimed, &batch, err));
    boxcar_status status = settle(visit, &batch, claim_size(visit), ret_next, err);
    if (status == BOXCAR_OK)
        log_batch(visit, &batch);
    batch_release(&batch);
    return status;
}

static size_t count_of(const struct visit *visit, const struct result *result) {
    const struct part_result *part = &result->parts[request_index(visit->route->reader)];
    return part->claimed_count + part->returned_count;
}

/* A claim has failed, or the store as a whole. What a request did whose answer was lost is not known: what
 * is still leased comes back with the next claim. */
static enum visit_end fail(struct visit *visit, const boxcar_error *err) {
    if (is_removed(err))
        return VISIT_GONE;
    visit->route->may_hold = true;
    visit->err = *err;
    return VISIT_SOURCE_AWAY;
}

static enum visit_end end_of(const struct visit *visit, const struct result *last, bool has_claimed) {
    if (visit->is_away)
        return VISIT_AWAY;
    if (!has_claimed)
        return VISIT_MORE;
    return last->parts[request_index(visit->route->reader)].held_up ? VISIT_HELD_UP : VISIT_EMPTY;
}

static enum visit_end pass_on_all(struct visit *visit) {
    struct result result = {.arena = ARENA_INIT}, next;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_status status = batch_settle(visit, NULL, false, claim_size(visit), &result, &err);
    bool claims = true;
    while (status == BOXCAR_OK && result.claim_error.status == BOXCAR_OK && count_of(visit, &result) > 0) {
        visit->found = true;
        visit->route->may_hold = false;
        next = (struct result){.arena = ARENA_INIT};
        status = pass_on(visit, &result, &next, &err);
        claims = claims_more(visit);
        result_release(&result);
        result = next;
    }
    if (status == BOXCAR_OK && result.claim_error.status != BOXCAR_OK) {
        err = result.claim_error;
        status = err.status;
    }
    enum visit_end end = status == BOXCAR_OK ? end_of(visit, &result, claims) : fail(visit, &err);
    if (status == BOXCAR_OK && claims)
        visit->route->may_hold = false;
    result_release(&result);
    return end;
}

/* A worker without a list of stores knows none by name: it leaves such a route to one that has a list. */
static bool knows_no_store(const struct visit *visit) {
    return !visit->forwarding->locate && route_is_remote(visit->route);
}

enum visit_end visit_run(struct visit *visit) {
    if (knows_no_store(visit))
        return VISIT_UNKNOWN;
    if (visit->route->kind != ROUTE_STORE)
        return pass_on_all(visit);
    enum visit_end end = remote_open(visit);
    if (end == VISIT_EMPTY)
        end = pass_on_all(visit);
    remote_close(visit);
    return end;
}
