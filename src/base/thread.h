/* What threads share, and how they are started. */
#ifndef BOXCAR_BASE_THREAD_H
#define BOXCAR_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* A lock, and a condition whose waits end by clock_us(). */
struct monitor {
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

/* false = the system has no room for it. */
bool monitor_init(struct monitor *monitor);
void monitor_destroy(struct monitor *monitor);
/* Under the lock: waits for a change, but not beyond a time of clock_us(); INT64_MAX = for ever. false = that
 * time has come. */
bool monitor_wait(struct monitor *monitor, int64_t until_us);
/* Takes the lock, sets a flag that it guards, and wakes all who wait. */
void monitor_set(struct monitor *monitor, bool *flag);

/* The new thread takes no signals: those are for the one that does the work. Returns what pthread_create()
 * does. */
int thread_start(pthread_t *ret_thread, void *(*run)(void *context), void *context);

#endif
