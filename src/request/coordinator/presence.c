#include "presence.h"

#include <unistd.h>

#include "base/utf8.h"
#include "request/request.h"

#define INTERVAL_MS 10000
#define INTERVALS 3 /* within the time after which an instance is stale */

int64_t presence_interval_ms(const struct setting_value_list *settings) {
    int64_t interval_ms = INTERVAL_MS;
    for (size_t i = 0; i < settings->count; i++) {
        const struct setting_value *value = &settings->items[i];
        if (str_equal(value->name, BOXCAR_STR("instance_timeout")) && value->number / INTERVALS < INTERVAL_MS)
            interval_ms = (int64_t)(value->number / INTERVALS);
    }
    return interval_ms > 0 ? interval_ms : 1;
}

struct instance presence_instance(boxcar_owner owner, int concurrency, char host[PRESENCE_HOST_SIZE]) {
    host[0] = host[PRESENCE_HOST_SIZE - 1] = '\0';
    (void)gethostname(host, PRESENCE_HOST_SIZE - 1);
    boxcar_str name = boxcar_str_of(host);
    return (struct instance){.owner = owner,
                             .host = utf8_is_valid(name) ? name : BOXCAR_STR("?"),
                             .pid = getpid(),
                             .concurrency = concurrency};
}

/* ---- which boxes ---- */

/* Without memory it is registered without topics. */
static void keep_topics(struct presence *presence, int box, const boxcar_claimer *claim) {
    const boxcar_str *topics = claim->topic_count > 0 ? claim->topics : &EVERY_TOPIC;
    size_t count = claim->topic_count > 0 ? claim->topic_count : 1;
    struct arena *arena = &presence->boxes[box].arena;
    arena_release(arena);
    presence->boxes[box].topic_count = 0;
    presence->boxes[box].topics = arena_alloc_array(arena, count, sizeof(boxcar_str));
    bool good = presence->boxes[box].topics != NULL;
    for (size_t i = 0; good && i < count; i++)
        good = arena_copy_str(arena, topics[i], &presence->boxes[box].topics[i]);
    if (good)
        presence->boxes[box].topic_count = count;
}

static bool generation_settles(const struct generation *generation, int box) {
    for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
        if (generation->settle[box][kind].count > 0)
            return true;
    return false;
}

/* Generations behind `last` belong to other threads. */
static bool settles(const struct generation *head, const struct generation *last, int box) {
    const struct generation *g = head;
    while (g != NULL && g != last && !generation_settles(g, box))
        g = g->next;
    return g != NULL && generation_settles(g, box);
}

void presence_note(struct presence *presence, const struct generation *head, const struct generation *last,
                   const boxcar_flush_options *asked) {
    for (int box = 0; box < BOXES; box++) {
        bool asks = asked && (asked->claims[box] || asked->returns[box] != BOXCAR_RETURN_NONE);
        if (asked && asked->claims[box])
            keep_topics(presence, box, asked->claims[box]);
        presence->boxes[box].works = presence->boxes[box].works || asks || settles(head, last, box);
    }
}

bool presence_has_work(const struct presence *presence) {
    return presence->boxes[BOXCAR_OUTBOX].works || presence->boxes[BOXCAR_INBOX].works;
}

/* ---- speaking ---- */

static void learn_interval(struct presence *presence, struct boxcar_store *store) {
    struct setting_value_list settings = {.arena = ARENA_INIT};
    if (presence->interval_ms > 0 || store->ops->settings_read(store, &settings, NULL) != BOXCAR_OK)
        return;
    presence->interval_ms = presence_interval_ms(&settings);
    if (presence->stale_threshold_ms > 0 && presence->stale_threshold_ms / INTERVALS < presence->interval_ms)
        presence->interval_ms =
            presence->stale_threshold_ms / INTERVALS; /* others may have the same threshold */
    arena_release(&settings.arena);
}

static boxcar_status speak(const struct presence *presence, struct boxcar_store *store, boxcar_owner owner,
                           boxcar_error *err) {
    char host[PRESENCE_HOST_SIZE];
    struct instance instance = presence_instance(owner, 1, host), instances[BOXES];
    size_t count = 0;
    for (int box = 0; box < BOXES; box++) {
        if (!presence->boxes[box].works)
            continue;
        instance.box = (boxcar_box)box;
        instance.topics = presence->boxes[box].topics;
        instance.topic_count = presence->boxes[box].topic_count;
        instances[count++] = instance;
    }
    return count > 0 ? request_beat(store, instances, count, presence->stale_threshold_ms, err) : BOXCAR_OK;
}

int64_t presence_beat(struct presence *presence, struct boxcar_store *store, boxcar_owner owner,
                      int64_t now_ms) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    learn_interval(presence, store);
    bool is_mute = speak(presence, store, owner, &err) != BOXCAR_OK && !err.retryable;
    if (is_mute && !presence->is_mute)
        store_log(store, BOXCAR_LOG_WARN, "heartbeat", NULL, 0, "this coordinator cannot be registered: %s",
                  err.message);
    presence->is_mute = is_mute;
    return now_ms + (presence->interval_ms > 0 ? presence->interval_ms : INTERVAL_MS);
}

void presence_end(struct presence *presence, struct boxcar_store *store, boxcar_owner owner) {
    if (presence_has_work(presence)) {
        store->impatient = true; /* not worth waiting for a store that is away: it removes silent owners */
        (void)request_farewell(store, owner, NULL);
    }
    for (int box = 0; box < BOXES; box++)
        arena_release(&presence->boxes[box].arena);
}
