/* Locks, conditions and threads. */
#ifndef BOXCAR_BASE_THREAD_H
#define BOXCAR_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "memory.h"

static inline void mutex_let_go(pthread_mutex_t **mutex) { pthread_mutex_unlock(*mutex); }
#define AUTO_UNLOCK CLEANUP(mutex_let_go)

/* Locks a mutex until the end of the block: AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&mutex); */
static inline pthread_mutex_t *mutex_hold(pthread_mutex_t *mutex) {
    pthread_mutex_lock(mutex);
    return mutex;
}

/* A condition for cond_wait_until(). 0, or an errno. */
int cond_init(pthread_cond_t *cond);
/* Until a time of clock_ms(): then it returns ETIMEDOUT. INT64_MAX = without end. */
int cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t at_ms);

/* Starts a thread that takes no signals: those are the program's. 0, or an errno. */
int thread_start(pthread_t *ret_thread, void *(*run)(void *context), void *context);

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

#endif
