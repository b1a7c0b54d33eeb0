#include "thread.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

bool monitor_init(struct monitor *monitor) {
    pthread_condattr_t monotonic;
    if (pthread_mutex_init(&monitor->lock, NULL) != 0)
        return false;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    int failed = pthread_cond_init(&monitor->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (failed)
        pthread_mutex_destroy(&monitor->lock);
    return !failed;
}

void monitor_destroy(struct monitor *monitor) {
    pthread_cond_destroy(&monitor->changed);
    pthread_mutex_destroy(&monitor->lock);
}

bool monitor_wait(struct monitor *monitor, int64_t until_us) {
    const struct timespec until = {.tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000};
    return pthread_cond_timedwait(&monitor->changed, &monitor->lock, &until) != ETIMEDOUT;
}

void monitor_set(struct monitor *monitor, bool *flag) {
    pthread_mutex_lock(&monitor->lock);
    *flag = true;
    pthread_cond_broadcast(&monitor->changed);
    pthread_mutex_unlock(&monitor->lock);
}

int thread_start(pthread_t *ret_thread, void *(*run)(void *context), void *context) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(ret_thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}
