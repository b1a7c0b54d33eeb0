/* Locks, conditions and threads. */
#ifndef BOXCAR_BASE_THREAD_H
#define BOXCAR_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>

#include "memory.h"

static inline void mutex_let_go(pthread_mutex_t **mutex) { pthread_mutex_unlock(*mutex); }
#define AUTO_UNLOCK CLEANUP(mutex_let_go)

/* Locks a mutex until the end of the block: AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&mutex); */
static inline pthread_mutex_t *mutex_hold(pthread_mutex_t *mutex) {
    pthread_mutex_lock(mutex);
    return mutex;
}

/* A condition for cond_wait_until(). */
static inline void cond_init(pthread_cond_t *cond) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* Until a time of clock_ms(): then it returns ETIMEDOUT. INT64_MAX = without end. */
static inline int cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t at_ms) {
    struct timespec at = {.tv_sec = (time_t)(at_ms / 1000), .tv_nsec = (long)(at_ms % 1000) * 1000000};
    return at_ms == INT64_MAX ? pthread_cond_wait(cond, mutex) : pthread_cond_timedwait(cond, mutex, &at);
}

/* Starts a thread that takes no signals: those are the program's. 0, or an errno. */
static inline int thread_start(pthread_t *thread, void *(*run)(void *context), void *context) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

#endif
