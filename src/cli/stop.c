#include "stop.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t stopping;

/* The handler is gone when the second signal comes. */
static void stop(int signal_number) {
    (void)signal_number;
    stopping = 1;
}

static sigset_t our_signals(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    return signals;
}

void stop_catch_signals(void) {
    struct sigaction action = {.sa_handler = stop, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
}

bool stop_wanted(void) { return stopping; }

/* Signals are kept back between the look and the wait, so that none is overlooked there. */
static bool wait_ms(int64_t ms, struct pollfd *fds, nfds_t count) {
    struct timespec timeout = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
    sigset_t signals = our_signals(), before;
    bool happened = false;
    sigprocmask(SIG_BLOCK, &signals, &before);
    if (!stopping)
        happened = ppoll(fds, count, &timeout, &before) > 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return happened;
}

void stop_wait_ms(int64_t ms) { wait_ms(ms, NULL, 0); }

/* Asked for nothing, poll still tells of a pipe without a reader. */
bool stop_wait_read_ms(int64_t ms) {
    struct pollfd output = {.fd = STDOUT_FILENO};
    return !wait_ms(ms, &output, 1);
}
