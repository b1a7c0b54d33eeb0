/* The members follow the list: new stores come, removed ones finish what they hold and go, changed ones
 * connect again, and unchanged ones are left alone. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/thread.h"
#include "base/utf8.h"
#include "fleet.h"
#include "worker/forward/forward.h"

/* ---- a list becomes members ---- */

static int compare_members(const void *a, const void *b) {
    return strcmp((*(struct member *const *)a)->store.id, (*(struct member *const *)b)->store.id);
}

static int compare_id(const void *id, const void *member) {
    return strcmp(id, (*(struct member *const *)member)->store.id);
}

/* The members by their ids. NULL = out of memory. */
static struct member **sort_members(const struct fleet *fleet) {
    struct member **sorted = calloc(fleet->count + 1, sizeof(struct member *));
    size_t count = 0;
    for (struct member *member = fleet->members; sorted && member; member = member->next)
        sorted[count++] = member;
    if (sorted)
        qsort(sorted, count, sizeof(struct member *), compare_members);
    return sorted;
}

static bool is_same(const boxcar_found_store *a, const boxcar_found_store *b) {
    return str_equal(a->url, b->url) && str_equal(a->schema, b->schema) && str_equal(a->key, b->key);
}

/* false = not yet: it runs, or is being looked after. */
static bool change(struct member *member, const boxcar_found_store *found) {
    if (is_same(&member->store, found))
        return true;
    if (member_is_active(member) || member->in_upkeep) {
        atomic_store(&member->seat.is_closing, true);
        if (member_is_active(member))
            worker_wake(&member->worker);
        return false;
    }
    if (!member_replace(member, found))
        return false;
    member->state = BOXCAR_FLEET_WAITING;
    member->failures = 0;
    member_log(member, BOXCAR_LOG_INFO, "store_changed",
               "the store is connected anew: its entry has changed");
    return true;
}

/* *end is the last member's `next`, and moves on. */
static bool append(struct fleet *fleet, const boxcar_found_store *found, bool tell, struct member ***end) {
    struct member *member = member_new(fleet, found);
    if (!member)
        return false;
    **end = member;
    *end = &member->next;
    fleet->count++;
    if (tell)
        member_log(member, BOXCAR_LOG_INFO, "store_added", "a store was added");
    return true;
}

static void remove_unlisted(struct fleet *fleet) {
    for (struct member *member = fleet->members; member; member = member->next) {
        if (member->is_listed)
            continue;
        atomic_store(&member->seat.is_closing, true);
        if (member_is_active(member))
            worker_wake(&member->worker);
    }
}

/* Under the mutex: readers see the members. false = not all of it could be done now. */
static bool follow(struct fleet *fleet, const struct boxcar_discovered *list, bool tell) {
    struct member **sorted = sort_members(fleet);
    size_t count = fleet->count;
    struct member **end = &fleet->members;
    bool whole = sorted != NULL;
    if (!sorted)
        return false;
    for (; *end; end = &(*end)->next)
        (*end)->is_listed = false;
    for (size_t i = 0; i < list->count; i++) {
        struct member **known =
            bsearch(list->items[i].id, sorted, count, sizeof(struct member *), compare_id);
        if (known)
            (*known)->is_listed = true;
        whole =
            (known ? change(*known, &list->items[i]) : append(fleet, &list->items[i], tell, &end)) && whole;
    }
    free(sorted);
    remove_unlisted(fleet);
    return whole;
}

void roster_apply(struct fleet *fleet) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&fleet->mutex);
    if (!fleet->roster.fresh)
        return;
    if (!follow(fleet, fleet->roster.fresh, true))
        return;
    list_free(fleet->roster.fresh);
    fleet->roster.fresh = NULL;
}

/* ---- those that go ---- */

static void keep_counters(struct worker_counters *sum, const struct worker_counters *from) {
    atomic_fetch_add(&sum->claims, from->claims);
    atomic_fetch_add(&sum->claimed, from->claimed);
    atomic_fetch_add(&sum->held_up, from->held_up);
    atomic_fetch_add(&sum->given_back, from->given_back);
    atomic_fetch_add(&sum->unhandled, from->unhandled);
    atomic_fetch_add(&sum->leases_renewed, from->leases_renewed);
    atomic_fetch_add(&sum->leases_lost, from->leases_lost);
    atomic_fetch_add(&sum->reaped, from->reaped);
    atomic_fetch_add(&sum->store_errors, from->store_errors);
    atomic_fetch_add(&sum->detachments, from->detachments);
    atomic_fetch_add(&sum->handlers_abandoned, from->handlers_abandoned);
}

void roster_sweep(struct fleet *fleet) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&fleet->mutex);
    for (struct member **at = &fleet->members, *member; (member = *at) != NULL;) {
        if (member->is_listed || member_is_active(member) || member->in_upkeep) {
            at = &member->next;
            continue;
        }
        *at = member->next;
        fleet->count--;
        if (fleet->worker->forwarding)
            forwarding_withdraw(fleet->worker->forwarding, member->store.id);
        keep_counters(&fleet->gone, &member->worker.count);
        member_log(member, BOXCAR_LOG_INFO, "store_removed", "a store was removed");
        member_free(member);
    }
}

/* ---- found by their keys ---- */

boxcar_str roster_spell(boxcar_str key, char room[BOXCAR_UUID_TEXT_SIZE]) {
    boxcar_uuid uuid;
    if (!boxcar_uuid_parse(key, &uuid))
        return key;
    boxcar_uuid_format(uuid, room);
    return boxcar_str_of(room);
}

boxcar_status roster_locate(void *context, boxcar_str key, struct arena *arena, boxcar_str *ret_url,
                            boxcar_str *ret_schema, boxcar_error *err) {
    struct fleet *fleet = context;
    char room[BOXCAR_UUID_TEXT_SIZE];
    boxcar_str wanted = roster_spell(key, room);
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&fleet->mutex);
    for (const struct member *member = fleet->members; member; member = member->next)
        if (member->is_listed && !str_is_empty(member->store.key) && str_equal(member->spelt_key, wanted))
            return arena_copy_str(arena, member->store.url, ret_url) &&
                           arena_copy_str(arena, member->store.schema, ret_schema)
                       ? BOXCAR_OK
                       : error_no_memory(err);
    error_set(err, BOXCAR_E_NOT_FOUND, "no store of this worker has the key \"%.*s\"", (int)key.len,
              key.data);
    return BOXCAR_E_NOT_FOUND;
}

void roster_note_arrival(void *context, const char *store_id) {
    struct fleet *fleet = context;
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&fleet->mutex);
    for (struct member *member = fleet->members; member; member = member->next)
        if (strcmp(member->store.id, store_id) == 0)
            atomic_store(&member->has_arrivals, true);
    worker_wake(fleet->worker);
}

/* ---- the thread that discovers ---- */

/* Under the mutex. One line when it begins to fail, one when it works again. */
static void take_result(struct fleet *fleet, struct boxcar_discovered *list, boxcar_status status,
                        const boxcar_error *err) {
    struct roster *roster = &fleet->roster;
    const boxcar_log_field source = {"source", boxcar_str_of(discovery_source(fleet->discovery))};
    if (status != BOXCAR_OK && !roster->is_failing && !roster->stopping)
        store_log(&fleet->logger, BOXCAR_LOG_WARN, "discover", &source, 1,
                  "the stores cannot be listed, the last list stays: %s", err->message);
    else if (status == BOXCAR_OK && roster->is_failing)
        store_log(&fleet->logger, BOXCAR_LOG_INFO, "discover", &source, 1, "the stores are listed again");
    roster->is_failing = status != BOXCAR_OK;
    if (status != BOXCAR_OK)
        return;
    list_free(roster->fresh);
    roster->fresh = list;
    worker_wake(fleet->worker);
}

/* A directory that is not mounted, or a file that is just being written, looks like an empty list. */
static void refresh(struct fleet *fleet) {
    struct boxcar_discovered *list = NULL;
    boxcar_error err = BOXCAR_ERROR_INIT;
    pthread_mutex_unlock(&fleet->mutex);
    boxcar_status status = discovery_run(fleet->discovery, &list, &err);
    pthread_mutex_lock(&fleet->mutex);
    if (status == BOXCAR_OK && list->count == 0 && fleet->count > 0) {
        list_free(list);
        status = error_set(&err, BOXCAR_E_INVALID, "the list is empty, which would end all %zu stores",
                           fleet->count);
    }
    take_result(fleet, list, status, &err);
}

static void *discover_again_and_again(void *context) {
    struct fleet *fleet = context;
    struct roster *roster = &fleet->roster;
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&fleet->mutex);
    while (!roster->stopping) {
        int64_t next_ms = clock_ms() + fleet->options.refresh_ms;
        while (!roster->stopping && cond_wait_until(&roster->changed, &fleet->mutex, next_ms) != ETIMEDOUT)
            ;
        if (!roster->stopping)
            refresh(fleet);
    }
    return NULL;
}

/* The worker is told to stop: nobody needs a list any more. */
static bool is_unwanted(const struct fleet *fleet) { return atomic_load(&fleet->worker->stop_requests) > 0; }

boxcar_status roster_begin(struct fleet *fleet, boxcar_error *err) {
    struct roster *roster = &fleet->roster;
    struct boxcar_discovered *list;
    boxcar_status status = discovery_run(fleet->discovery, &list, err);
    if (status != BOXCAR_OK)
        return is_unwanted(fleet) ? BOXCAR_OK : status;
    pthread_mutex_lock(&fleet->mutex);
    bool whole = follow(fleet, list, false);
    pthread_mutex_unlock(&fleet->mutex);
    list_free(list);
    if (!whole)
        return error_no_memory(err);
    if (!discovery_is_live(fleet->discovery))
        return BOXCAR_OK;
    if (thread_start(&roster->thread, discover_again_and_again, fleet) != 0)
        return error_set(err, BOXCAR_E_UNAVAILABLE, "no thread for the discovery of stores could be started");
    roster->has_thread = true;
    return BOXCAR_OK;
}

void roster_end(struct fleet *fleet) {
    struct roster *roster = &fleet->roster;
    discovery_hurry(fleet->discovery);
    pthread_mutex_lock(&fleet->mutex);
    roster->stopping = true;
    pthread_cond_broadcast(&roster->changed);
    pthread_mutex_unlock(&fleet->mutex);
    if (roster->has_thread)
        pthread_join(roster->thread, NULL);
    roster->has_thread = false;
    list_free(roster->fresh);
    roster->fresh = NULL;
}
