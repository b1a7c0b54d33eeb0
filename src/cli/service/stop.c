#include "stop.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"

enum { LAST_GRACE_S = 5 }; /* for the call that is under way */

static volatile sig_atomic_t stopping;
static int64_t stopped_at_ms; /* only the handler looks, which is not interrupted by itself */

/* Another one ends the program as if there were no handler: it is delivered when this returns. */
static void stop(int signal_number) {
    if (!stopping) {
        stopping = 1;
        stopped_at_ms = clock_ms();
        alarm(LAST_GRACE_S);
    } else if (clock_ms() - stopped_at_ms >= STOP_ECHO_MS) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
}

/* The server does not answer. Nothing is lost: what it was asked for is a transaction. */
static void give_up(int signal_number) {
    (void)signal_number;
    signal(SIGTERM, SIG_DFL);
    raise(SIGTERM);
}

static sigset_t our_signals(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    return signals;
}

void stop_catch_signals(void) {
    struct sigaction action = {.sa_handler = stop, .sa_mask = our_signals(), .sa_flags = SA_RESTART};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    action.sa_handler = give_up;
    sigaction(SIGALRM, &action, NULL);
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
