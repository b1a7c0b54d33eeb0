#include "metrics_guard.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define LOOK_MS 250

/* A connection. Its descriptor is open as long as it is listed: it is taken out before it is closed. */
struct guest {
    struct guest *next;
    int fd;
    struct in6_addr address; /* an IPv4 address as IPv6 maps it */
    int64_t since_ms;        /* when what it waits for began */
    bool is_overdue, is_cut;
};

struct metrics_guard {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct guest *guests; /* under the lock, as all that follows */
    bool ending;
};

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct in6_addr address_of(const struct sockaddr *from) {
    struct in6_addr address = {0};
    if (from->sa_family == AF_INET6)
        return ((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
    if (from->sa_family == AF_INET) {
        const struct in_addr *v4 = &((const struct sockaddr_in *)(const void *)from)->sin_addr;
        memset(address.s6_addr + 10, 0xFF, 2);
        memcpy(address.s6_addr + 12, v4, sizeof(*v4));
    }
    return address;
}

/* ---- cutting connections off; under the lock ---- */

/* libmicrohttpd finds the connection ended, and closes it. */
static void cut(struct guest *guest) {
    guest->is_cut = true;
    shutdown(guest->fd, SHUT_RDWR);
}

static size_t count_of_address(const struct metrics_guard *guard, const struct in6_addr *address) {
    size_t count = 0;
    for (const struct guest *guest = guard->guests; guest; guest = guest->next)
        count += !guest->is_cut && memcmp(&guest->address, address, sizeof(*address)) == 0;
    return count;
}

static bool is_overdue(const struct metrics_guard *guard, const struct guest *guest, int64_t now) {
    if (now - guest->since_ms >= METRICS_DEADLINE_MS)
        return true;
    return now - guest->since_ms >= METRICS_GRACE_MS &&
           count_of_address(guard, &guest->address) > METRICS_PER_ADDRESS;
}

/* First all are judged, since each one that is cut changes the number. */
static void cut_overdue(struct metrics_guard *guard) {
    int64_t now = now_ms();
    for (struct guest *guest = guard->guests; guest; guest = guest->next)
        guest->is_overdue = is_overdue(guard, guest, now);
    for (struct guest *guest = guard->guests; guest; guest = guest->next)
        if (guest->is_overdue && !guest->is_cut)
            cut(guest);
}

/* ---- its thread ---- */

static struct timespec next_look(void) {
    int64_t at = now_ms() + LOOK_MS;
    return (struct timespec){.tv_sec = (time_t)(at / 1000), .tv_nsec = (long)(at % 1000) * 1000000};
}

static void *watch(void *context) {
    struct metrics_guard *guard = context;
    pthread_mutex_lock(&guard->lock);
    while (!guard->ending) {
        struct timespec next = next_look();
        if (guard->guests)
            pthread_cond_timedwait(&guard->changed, &guard->lock, &next);
        else
            pthread_cond_wait(&guard->changed, &guard->lock);
        cut_overdue(guard);
    }
    pthread_mutex_unlock(&guard->lock);
    return NULL;
}

static bool init(struct metrics_guard *guard) {
    pthread_condattr_t monotonic;
    if (pthread_mutex_init(&guard->lock, NULL) != 0)
        return false;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    int failed = pthread_cond_init(&guard->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (failed)
        pthread_mutex_destroy(&guard->lock);
    return !failed;
}

static void release(struct metrics_guard *guard) {
    pthread_cond_destroy(&guard->changed);
    pthread_mutex_destroy(&guard->lock);
    free(guard);
}

struct metrics_guard *metrics_guard_start(void) {
    struct metrics_guard *guard = calloc(1, sizeof(*guard));
    if (!guard || !init(guard)) {
        free(guard);
        return NULL;
    }
    if (pthread_create(&guard->thread, NULL, watch, guard) == 0)
        return guard;
    release(guard);
    return NULL;
}

void metrics_guard_stop(struct metrics_guard *guard) {
    if (!guard)
        return;
    pthread_mutex_lock(&guard->lock);
    guard->ending = true;
    pthread_cond_signal(&guard->changed);
    pthread_mutex_unlock(&guard->lock);
    pthread_join(guard->thread, NULL);
    release(guard);
}

/* ---- news of the daemon, on its thread ---- */

/* Without memory for it the guest goes unwatched; then only silence ends it. */
static struct guest *guest_new(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *fd =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    const union MHD_ConnectionInfo *from =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    struct guest *guest = fd && from ? calloc(1, sizeof(*guest)) : NULL;
    if (!guest)
        return NULL;
    guest->fd = fd->connect_fd;
    guest->address = address_of(from->client_addr);
    guest->since_ms = now_ms();
    return guest;
}

static void enter(struct metrics_guard *guard, struct guest *guest) {
    pthread_mutex_lock(&guard->lock);
    guest->next = guard->guests;
    guard->guests = guest;
    pthread_cond_signal(&guard->changed);
    pthread_mutex_unlock(&guard->lock);
}

static void leave(struct metrics_guard *guard, struct guest *gone) {
    pthread_mutex_lock(&guard->lock);
    for (struct guest **at = &guard->guests; *at; at = &(*at)->next) {
        if (*at == gone) {
            *at = gone->next;
            break;
        }
    }
    pthread_mutex_unlock(&guard->lock);
    free(gone);
}

void metrics_guard_on_connection(void *guard, struct MHD_Connection *connection, void **ret_place,
                                 enum MHD_ConnectionNotificationCode code) {
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (*ret_place)
            leave(guard, *ret_place);
        *ret_place = NULL;
        return;
    }
    struct guest *guest = guest_new(connection);
    if (guest)
        enter(guard, guest);
    *ret_place = guest;
}

void metrics_guard_on_completed(void *guard, struct MHD_Connection *connection, void **request,
                                enum MHD_RequestTerminationCode code) {
    struct metrics_guard *self = guard;
    const union MHD_ConnectionInfo *place =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct guest *guest = place ? place->socket_context : NULL;
    (void)request;
    (void)code;
    if (!guest)
        return;
    pthread_mutex_lock(&self->lock);
    guest->since_ms = now_ms();
    pthread_mutex_unlock(&self->lock);
}
