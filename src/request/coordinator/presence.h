/* That a coordinator lives: it is registered in the boxes that it claims from or settles in, and says so
 * again and again, from its thread. One without a thread is not registered: it could not speak while its
 * program works, and a registered instance that is silent loses its leases. Its flushes are signs of life all
 * the same, if its owner registered in another way. */
#ifndef BOXCAR_REQUEST_COORDINATOR_PRESENCE_H
#define BOXCAR_REQUEST_COORDINATOR_PRESENCE_H

#include <limits.h>

#include "generation.h"
#include "store/store.h"

struct presence {
    /* Only the thread that has the turn uses these. */
    struct {
        bool works;
        struct arena arena; /* of the topics that it claimed last */
        boxcar_str *topics;
        size_t topic_count;
    } boxes[BOXES];
    int64_t interval_ms;        /* 0 = not known yet */
    int64_t stale_threshold_ms; /* who was silent for this long is removed; 0 = nobody */
    bool is_mute;               /* it cannot be registered, and that was logged */
    /* Under the coordinator's mutex. */
    int64_t next_ms; /* when to speak; SCHEDULE_NEVER = there is nothing to say */
};

#define PRESENCE_INIT ((struct presence){.next_ms = SCHEDULE_NEVER})

/* How often an instance of a store with these settings speaks: several times within the setting
 * instance_timeout. */
int64_t presence_interval_ms(const struct setting_value_list *settings);

/* An instance of this process on this host, whose name is written to `host`; without a box. */
#define PRESENCE_HOST_SIZE (HOST_NAME_MAX + 1)
struct instance presence_instance(boxcar_owner owner, int concurrency, char host[PRESENCE_HOST_SIZE]);

/* Notes what a flush of the generations from `head` to `last` (NULL = none), and what it asks for (NULL =
 * nothing), says about the boxes. */
void presence_note(struct presence *presence, const struct generation *head, const struct generation *last,
                   const boxcar_flush_options *asked);
bool presence_has_work(const struct presence *presence);
/* Registers the owner in its boxes, again and again. Returns when to come next. */
int64_t presence_beat(struct presence *presence, struct boxcar_store *store, boxcar_owner owner,
                      int64_t now_ms);
/* The owner goes. Its leases stay until they end. */
void presence_end(struct presence *presence, struct boxcar_store *store, boxcar_owner owner);

#endif
