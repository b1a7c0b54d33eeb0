/* One store of a fleet: its loop, and when it is looked at again. */
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "base/utf8.h"
#include "fleet.h"
#include "pause.h"
#include "store/open.h"
#include "worker/loop/pump.h"

/* A store that does not answer while it is opened keeps a place no longer than this. */
#define OPEN_MS 5000

void member_log(const struct member *member, boxcar_log_level level, const char *event, const char *text) {
    const boxcar_log_field key = {"key", member->store.key};
    store_log(&member->logger, level, event, &key, !str_is_empty(key.value), "%s", text);
}

/* ---- made and freed ---- */

static void set_texts(struct member *member) {
    const boxcar_store_options *common = &member->fleet->worker->store;
    boxcar_store_options *store = &member->worker.store;
    *store = *common;
    store->url = member->store.url;
    store->schema = member->store.schema;
    member->worker.patience_ms = OPEN_MS;
    member->logger.id = (char *)member->store.id;
    member->seat.candidate.store_id = member->store.id;
    member->seat.candidate.key = member->store.key;
    member->spelt_key = roster_spell(member->store.key, member->key_room);
    member->path = str_starts_with(store->url, BOXCAR_STR(STORE_URL_SQLITE))
                       ? store->url.data + strlen(STORE_URL_SQLITE)
                       : NULL;
    member->seat.is_file = member->path != NULL;
}

static bool copy_texts(struct arena *arena, const boxcar_found_store *from, boxcar_found_store *ret_store) {
    boxcar_str id;
    if (!arena_copy_str(arena, boxcar_str_of(from->id), &id) ||
        !arena_copy_str(arena, from->url, &ret_store->url) ||
        !arena_copy_str(arena, from->schema, &ret_store->schema) ||
        !arena_copy_str(arena, from->key, &ret_store->key))
        return false;
    ret_store->id = id.data;
    return true;
}

bool member_replace(struct member *member, const boxcar_found_store *store) {
    struct arena arena = ARENA_INIT;
    boxcar_found_store copy;
    if (!copy_texts(&arena, store, &copy)) {
        arena_release(&arena);
        return false;
    }
    arena_release(&member->arena);
    member->arena = arena;
    member->store = copy;
    set_texts(member);
    return true;
}

struct member *member_new(struct fleet *fleet, const boxcar_found_store *store) {
    struct member *member = calloc(1, sizeof(*member));
    if (!member)
        return NULL;
    const struct boxcar_worker *whole = fleet->worker;
    member->fleet = fleet;
    member->is_listed = true;
    member->state = BOXCAR_FLEET_WAITING;
    member->logger = (struct boxcar_store){.log = whole->store.log,
                                           .log_context = whole->store.log_context,
                                           .log_level = whole->store.log_level};
    member->seat.worker = &member->worker;
    member->seat.candidate = (boxcar_candidate){
        .struct_size = sizeof(boxcar_candidate), .order = ++fleet->last_order, .claimed = -1};
    member->err = BOXCAR_ERROR_INIT;
    worker_part_init(&member->worker, whole);
    member->worker.crew = fleet->crew;
    member->worker.seat = &member->seat;
    member->keeper = keeper_new(&member->worker, &member->logger);
    if (!member->keeper || !member_replace(member, store)) {
        member_free(member);
        return NULL;
    }
    return member;
}

void member_free(struct member *member) {
    worker_part_release(&member->worker);
    keeper_free(member->keeper);
    arena_release(&member->arena);
    free(member);
}

/* ---- its loop ---- */

static void *serve(void *context) {
    struct member *member = context;
    member->status = pump_run(&member->worker, &member->err);
    atomic_store(&member->has_ended, true);
    worker_wake(member->fleet->worker);
    return NULL;
}

static bool prepare(struct member *member) {
    struct boxcar_worker *worker = &member->worker;
    struct tuning *tuning;
    if (tuning_copy(&member->fleet->worker->tuning, &tuning, NULL) != BOXCAR_OK)
        return false;
    tuning_free(worker_swap_pending(worker, tuning));
    (void)worker_take_pending(worker);
    worker->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    atomic_store(&worker->stop_requests, 0);
    atomic_store(&worker->stop_asked_ms, 0);
    worker->has_unsettled = false;
    member->err = BOXCAR_ERROR_INIT;
    atomic_store(&member->has_ended, false);
    member->claims_before = atomic_load(&worker->count.claims);
    member->claimed_before = atomic_load(&worker->count.claimed);
    return worker->wake_fd >= 0;
}

static void put_down(struct member *member) {
    share_rise(&member->seat);
    close(member->worker.wake_fd);
    member->worker.wake_fd = -1;
}

bool member_start(struct member *member) {
    if (!prepare(member))
        return false;
    member->seat.is_slow = member->seat.is_slow || member->failures > 0; /* nobody waits for a try */
    if (!share_seat(&member->fleet->share, &member->seat)) {
        close(member->worker.wake_fd);
        member->worker.wake_fd = -1;
        return false;
    }
    member->state = BOXCAR_FLEET_ACTIVE;
    if (thread_start(&member->thread, serve, member) == 0)
        return true;
    put_down(member);
    member->state = BOXCAR_FLEET_WAITING;
    return false;
}

/* ---- afterwards ---- */

static double chance(struct fleet *fleet) { return rand_r(&fleet->random) / (RAND_MAX + 1.0); }

/* One line when it goes down: the loop may have written it. */
static void take_failure(struct member *member, int64_t now) {
    member->failures = member->seat.has_worked ? 1 : member->failures + 1;
    member->next_look_ms = now + pause_down_ms(member->failures, chance(member->fleet));
    member->state = BOXCAR_FLEET_DOWN;
    member->failure = member->err;
    if (member->seat.is_down)
        return;
    member->seat.is_down = true;
    member->seat.down_since_ms = now;
    store_log(&member->logger, BOXCAR_LOG_WARN, "detached", NULL, 0,
              "the store cannot be used, trying again: %s", member->err.message);
}

/* `is_untouched`: its file is as it was after the look before, so that nothing can have come in unseen. */
static int64_t next_pause_ms(const struct member *member, bool is_untouched) {
    const struct fleet *fleet = member->fleet;
    int64_t poll_ms = fleet->worker->tuning.poll_ms;
    bool was_busy = atomic_load(&member->worker.count.claimed) != member->claimed_before;
    if (was_busy || member->seat.has_soon)
        return poll_ms;
    if (is_untouched && !member->seat.has_later)
        return pause_file_ms(fleet->options.look_ms);
    return pause_idle_ms(member->pause_ms, poll_ms,
                         pause_idle_longest_ms(fleet->count, fleet->options.look_ms));
}

/* Whether its file is as it was. */
static bool note_file(struct member *member) {
    struct watch before = member->watch;
    if (!member->path)
        return false;
    member->watch = watch_look(member->path);
    return watch_equal(&member->watch, &before);
}

static void rest(struct member *member, int64_t now) {
    member->failures = 0;
    member->is_drained = member->seat.is_drained;
    if (member->seat.has_more) {
        member->state = BOXCAR_FLEET_WAITING;
        return;
    }
    member->pause_ms = next_pause_ms(member, note_file(member));
    member->next_look_ms = now + member->pause_ms;
    member->state = BOXCAR_FLEET_IDLE;
}

void member_collect(struct member *member) {
    int64_t now = clock_ms();
    pthread_join(member->thread, NULL);
    put_down(member);
    if (member->status != BOXCAR_OK)
        take_failure(member, now);
    else
        rest(member, now);
}

void member_stop(struct member *member) {
    int64_t never = 0;
    struct boxcar_worker *worker = &member->worker;
    atomic_compare_exchange_strong(&worker->stop_asked_ms, &never,
                                   atomic_load(&member->fleet->worker->stop_asked_ms));
    worker_stop(worker);
}

static bool has_changed(struct member *member) {
    struct watch now = watch_look(member->path);
    return !watch_equal(&now, &member->watch);
}

void member_take_arrivals(struct member *member) {
    if (member->state != BOXCAR_FLEET_IDLE || !atomic_exchange(&member->has_arrivals, false))
        return;
    member->is_drained = false;
    member->next_look_ms = 0;
}

void member_wake_if_due(struct member *member, int64_t now, bool look_at_file) {
    bool is_idle = member->state == BOXCAR_FLEET_IDLE;
    if (!is_idle && member->state != BOXCAR_FLEET_DOWN)
        return;
    if (now < member->next_look_ms && !(is_idle && look_at_file && member->path && has_changed(member)))
        return;
    member->seat.is_look = is_idle;
    member->state = BOXCAR_FLEET_WAITING;
}
