#include "metrics_guard.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/thread.h"

#define LOOK_US 250000

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
    struct monitor monitor;
    struct guest *guests; /* under its lock, as all that follows */
    bool ending;
};

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
    int64_t now = clock_ms();
    for (struct guest *guest = guard->guests; guest; guest = guest->next)
        guest->is_overdue = is_overdue(guard, guest, now);
    for (struct guest *guest = guard->guests; guest; guest = guest->next)
        if (guest->is_overdue && !guest->is_cut)
            cut(guest);
}

/* ---- its thread ---- */

static void *watch(void *context) {
    struct metrics_guard *guard = context;
    pthread_mutex_lock(&guard->monitor.lock);
    while (!guard->ending) {
        monitor_wait(&guard->monitor, guard->guests ? clock_us() + LOOK_US : INT64_MAX);
        cut_overdue(guard);
    }
    pthread_mutex_unlock(&guard->monitor.lock);
    return NULL;
}

struct metrics_guard *metrics_guard_start(void) {
    struct metrics_guard *guard = calloc(1, sizeof(*guard));
    if (guard && monitor_init(&guard->monitor)) {
        if (pthread_create(&guard->thread, NULL, watch, guard) == 0)
            return guard;
        monitor_destroy(&guard->monitor);
    }
    free(guard);
    return NULL;
}

void metrics_guard_stop(struct metrics_guard *guard) {
    if (!guard)
        return;
    monitor_set(&guard->monitor, &guard->ending);
    pthread_join(guard->thread, NULL);
    monitor_destroy(&guard->monitor);
    free(guard);
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
    guest->since_ms = clock_ms();
    return guest;
}

static void enter(struct metrics_guard *guard, struct guest *guest) {
    pthread_mutex_lock(&guard->monitor.lock);
    guest->next = guard->guests;
    guard->guests = guest;
    pthread_cond_signal(&guard->monitor.changed);
    pthread_mutex_unlock(&guard->monitor.lock);
}

static void leave(struct metrics_guard *guard, struct guest *gone) {
    pthread_mutex_lock(&guard->monitor.lock);
    for (struct guest **at = &guard->guests; *at; at = &(*at)->next) {
        if (*at == gone) {
            *at = gone->next;
            break;
        }
    }
    pthread_mutex_unlock(&guard->monitor.lock);
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
    pthread_mutex_lock(&self->monitor.lock);
    guest->since_ms = clock_ms();
    pthread_mutex_unlock(&self->monitor.lock);
}
