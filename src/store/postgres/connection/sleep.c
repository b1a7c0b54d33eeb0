/* Waiting for work without asking for it all the time.
 *
 * A worker that is about to sleep puts a row into `sleeper` and listens. An enqueue looks there, and notifies
 * only if a sleeper wants the message (_wake_topic.sql). The first call only registers and returns, so that
 * the worker looks once more for messages that came before; the next call waits. A worker that is woken
 * removes its row, so that a burst of messages costs one notification. Rows expire after NAP_MS and are
 * renewed after an undisturbed sleep.
 *
 * Correctness does not depend on this: behind a pooler, or where it is refused, a worker waits until its next
 * poll (BX-012). */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "connection.h"
#include "query.h"

#define NAP_MS 2000 /* how long a row counts */
#define SHORT_MS 20 /* not worth registering for */
#define QUIET_MS 3  /* this long without work before a worker registers: bounds what bursts cost */
#define CHANNEL_PREFIX "boxcar_"

enum awakening { TIME_OVER, WOKEN, MAIL };

/* Until `fd` has something to read, the connection has (when `pg` is given), or the time is over. */
static enum awakening wait_for(struct pg_store *pg, int fd, int64_t ms) {
    struct pollfd fds[2] = {{.fd = fd, .events = POLLIN},
                            {.fd = pg ? PQsocket(pg->conn) : -1, .events = POLLIN}};
    int ready = poll(fds, 2, ms > INT_MAX ? INT_MAX : ms < 0 ? 0 : (int)ms);

    if (ready == 0)
        return TIME_OVER;
    return ready < 0 || fds[0].revents != 0 ? WOKEN : MAIL;
}

static bool is_awaited(const struct pg_store *pg, int box) {
    return box >= 0 && box < BOXES && pg->rest.awaited[box];
}

void pg_hear(struct pg_store *pg) {
    if (!pg->rest.listening || !pg_is_connected(pg))
        return;
    for (PGnotify *note; (note = PQnotifies(pg->conn)) != NULL;) {
        if (strncmp(note->relname, CHANNEL_PREFIX, strlen(CHANNEL_PREFIX)) == 0 &&
            is_awaited(pg, atoi(note->extra)))
            pg->rest.heard = true;
        PQfreemem(note);
    }
}

static void mix(uint64_t *digest, const void *data, size_t len) {
    const unsigned char *bytes = data;

    for (size_t i = 0; i < len; i++)
        *digest = (*digest ^ bytes[i]) * UINT64_C(1099511628211); /* FNV-1a */
}

static uint64_t digest_of(const struct nap *nap) {
    uint64_t digest = UINT64_C(14695981039346656037);

    mix(&digest, nap->owner.uuid.bytes, sizeof(nap->owner.uuid.bytes));
    for (int box = 0; box < BOXES; box++) {
        mix(&digest, &nap->boxes[box].awaited, sizeof(nap->boxes[box].awaited));
        for (size_t i = 0; i < nap->boxes[box].topic_count; i++) {
            boxcar_str topic = nap->boxes[box].topics[i];

            mix(&digest, &topic.len, sizeof(topic.len));
            mix(&digest, topic.data, topic.len);
        }
    }
    return digest;
}

/* A row a box. */
static bool register_nap(struct pg_store *pg, const struct nap *nap, boxcar_box box) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;

    pg_params_add(&params, P_ID(nap->owner), P_INT2(box));
    pg_params_patterns(&params, nap->boxes[box].topics, nap->boxes[box].topic_count);
    pg_params_add(&params, P_MS(NAP_MS), P_BOOL(!pg->rest.listening));
    if (pg_query_once(pg, PG_FALL_ASLEEP, &params, &result, NULL) != BOXCAR_OK)
        return false;
    pg->rest.listening = true;
    return true;
}

static void fall_asleep(struct pg_store *pg, const struct nap *nap) {
    int64_t now = clock_ms();

    pg->rest.until_ms = 0;
    pg->rest.heard = false;
    for (int box = 0; box < BOXES; box++) {
        pg->rest.awaited[box] = nap->boxes[box].awaited;
        if (nap->boxes[box].awaited && !register_nap(pg, nap, (boxcar_box)box)) {
            pg->rest.refused = true;
            return;
        }
    }
    pg->rest.nap = digest_of(nap);
    pg->rest.until_ms = now + NAP_MS;
}

static void remove_sleeper(struct pg_store *pg, boxcar_owner owner) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;

    pg->rest.heard = false;
    pg->rest.until_ms = 0;
    pg_params_add(&params, P_ID(owner));
    (void)pg_query_once(pg, PG_GET_UP, &params, &result, NULL); /* else the row ends by itself */
}

/* Reads what has arrived. Notifications are not for one worker: those that come while we are not
 * registered were for others. */
static bool was_called(struct pg_store *pg) {
    if (PQconsumeInput(pg->conn))
        pg_hear(pg);
    if (pg->rest.until_ms == 0)
        pg->rest.heard = false;
    return pg->rest.heard;
}

static bool is_registered(const struct pg_store *pg, const struct nap *nap) {
    return pg->rest.until_ms - clock_ms() > SHORT_MS && pg->rest.nap == digest_of(nap);
}

static bool can_be_woken(const struct pg_store *pg, const struct nap *nap) {
    return nap->longest_ms > SHORT_MS && pg->own_session && !pg->rest.refused && !pg_is_joined(pg) &&
           pg_is_connected(pg);
}

/* Registered: sleeps until a notification comes, or until the row has expired; then the row is renewed. */
static void sleep_registered(struct pg_store *pg, const struct nap *nap) {
    int64_t end = clock_ms() + nap->longest_ms;

    if (end > pg->rest.until_ms)
        end = pg->rest.until_ms;
    while (pg_is_connected(pg) && !was_called(pg)) {
        enum awakening why = wait_for(pg, nap->wake_fd, end - clock_ms());

        if (why == WOKEN)
            return;
        if (why == TIME_OVER) {
            if (!is_registered(pg, nap))
                fall_asleep(pg, nap);
            return;
        }
    }
    if (pg_is_connected(pg))
        remove_sleeper(pg, nap->owner);
}

void pg_sleep(struct boxcar_store *store, const struct nap *nap) {
    struct pg_store *pg = pg_store_of(store);

    if (!can_be_woken(pg, nap))
        (void)wait_for(NULL, nap->wake_fd, nap->longest_ms);
    else if (is_registered(pg, nap))
        sleep_registered(pg, nap);
    else if (wait_for(NULL, nap->wake_fd, QUIET_MS) == TIME_OVER)
        fall_asleep(pg, nap);
}
