#include "child.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "family.h"

/* How often to look for the end where the kernel has no descriptor for it (before Linux 5.3). */
#define LOOK_MS 5

/* From SIGTERM to SIGKILL. A handler that ran out of time may clean up. If the lease is lost, another handler
 * may run the message already, and a worker that was told twice to stop is in a hurry. */
static const int64_t TERM_MS[] = {
    [CANCEL_TIMEOUT] = 5000,
    [CANCEL_LEASE_LOST] = 1000,
    [CANCEL_STOP] = 1000,
};

enum { WATCH_INPUT, WATCH_ERRORS, WATCH_CANCEL, WATCH_END, WATCH_COUNT };

struct watch {
    struct exec_child *child;
    const struct boxcar_delivery *delivery;
    struct exec_tail *tail;
    struct exec_family family;
    int64_t started_ms;
    int end_fd;      /* readable when the process has ended; -1 = not to be had */
    int64_t kill_ms; /* when SIGKILL is due; INT64_MAX = not */
    struct exec_end *end;
};

/* Until the next thing to do without being told; -1 = none. */
static int pause_ms(const struct watch *watch) {
    int64_t left = watch->kill_ms == INT64_MAX ? -1 : watch->kill_ms - clock_ms();
    if (watch->kill_ms != INT64_MAX && left < 0)
        left = 0;
    if (watch->end_fd < 0 && (left < 0 || left > LOOK_MS))
        return LOOK_MS;
    return (int)left;
}

static void begin_to_end(struct watch *watch) {
    enum cancel_reason reason = delivery_cancel_reason(watch->delivery);
    if (reason == CANCEL_NONE)
        return;
    int64_t now_ms = clock_ms();
    watch->end->cancelled = reason;
    watch->end->cancelled_after_ms = now_ms - watch->started_ms;
    watch->kill_ms = now_ms + TERM_MS[reason];
    exec_family_signal(&watch->family, SIGTERM);
}

static void kill_when_due(struct watch *watch) {
    if (watch->kill_ms == INT64_MAX || clock_ms() < watch->kill_ms)
        return;
    watch->kill_ms = INT64_MAX;
    exec_family_kill(&watch->family);
}

/* poll() ignores a descriptor below 0. The one for cancelling stays readable, so it is left out once it has
 * fired. */
static void wait_for_something(struct watch *watch) {
    bool is_cancelled = watch->end->cancelled != CANCEL_NONE;
    struct pollfd fds[WATCH_COUNT] = {
        [WATCH_INPUT] = {.fd = watch->child->input_fd, .events = POLLOUT},
        [WATCH_ERRORS] = {.fd = watch->child->errors_fd, .events = POLLIN},
        [WATCH_CANCEL] = {.fd = is_cancelled ? -1 : boxcar_delivery_cancel_fd(watch->delivery),
                          .events = POLLIN},
        [WATCH_END] = {.fd = watch->end_fd, .events = POLLIN},
    };
    if (poll(fds, WATCH_COUNT, pause_ms(watch)) <= 0)
        return;
    if (fds[WATCH_INPUT].revents)
        exec_child_feed(watch->child);
    if (fds[WATCH_ERRORS].revents)
        exec_child_listen(watch->child, watch->tail);
    if (fds[WATCH_CANCEL].revents)
        begin_to_end(watch);
}

void exec_watch(struct exec_child *child, const char *mark, const struct boxcar_delivery *delivery,
                struct exec_tail *tail, struct exec_end *ret_end) {
    struct watch watch = {.child = child,
                          .delivery = delivery,
                          .tail = tail,
                          .started_ms = clock_ms(),
                          .end_fd = exec_open_process(child->pid),
                          .kill_ms = INT64_MAX,
                          .end = ret_end};
    exec_family_init(&watch.family, child->pid, mark);
    *ret_end = (struct exec_end){.cancelled = CANCEL_NONE};
    while (!exec_child_has_ended(child)) {
        wait_for_something(&watch);
        kill_when_due(&watch);
    }
    exec_child_hear_out(child, tail);
    if (ret_end->cancelled != CANCEL_NONE)
        exec_family_kill(&watch.family);
    exec_family_release(&watch.family);
    ret_end->is_known = exec_child_reap(child, &ret_end->status);
    if (watch.end_fd >= 0)
        close(watch.end_fd);
}
