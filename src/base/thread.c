#include "thread.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

int cond_init(pthread_cond_t *cond) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    int error = pthread_cond_init(cond, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return error;
}

static int wait_until_us(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t at_us) {
    struct timespec at = {.tv_sec = (time_t)(at_us / 1000000), .tv_nsec = (long)(at_us % 1000000) * 1000};
    return pthread_cond_timedwait(cond, mutex, &at);
}

int cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t at_ms) {
    return at_ms > INT64_MAX / 1000 ? pthread_cond_wait(cond, mutex)
                                    : wait_until_us(cond, mutex, at_ms * 1000);
}

int thread_start(pthread_t *ret_thread, void *(*run)(void *context), void *context) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(ret_thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

bool monitor_init(struct monitor *monitor) {
    if (pthread_mutex_init(&monitor->lock, NULL) != 0)
        return false;
    if (cond_init(&monitor->changed) == 0)
        return true;
    pthread_mutex_destroy(&monitor->lock);
    return false;
}

void monitor_destroy(struct monitor *monitor) {
    pthread_cond_destroy(&monitor->changed);
    pthread_mutex_destroy(&monitor->lock);
}

bool monitor_wait(struct monitor *monitor, int64_t until_us) {
    return wait_until_us(&monitor->changed, &monitor->lock, until_us) != ETIMEDOUT;
}

void monitor_set(struct monitor *monitor, bool *flag) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&monitor->lock);
    *flag = true;
    pthread_cond_broadcast(&monitor->changed);
}
