#include "service.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>
#include <time.h>

#include "cli/output/report.h"
#include "health.h"

/* How soon a change is noticed. */
#define LOOK_US 200000

struct service {
    boxcar_worker *worker;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ending; /* under the lock */

    /* Of the thread, and of service_stop() when that is gone. */
    uint64_t ping_us; /* how often the watchdog is fed; 0 = there is none */
    uint64_t pinged_at_us;
    boxcar_worker_state reported; /* the state that systemd was told last */
    bool is_ready, is_stopping;
};

/* What `systemctl status` shows. */
static const char *const STATUSES[] = {
    [BOXCAR_WORKER_IDLE] = "Not started",
    [BOXCAR_WORKER_STARTING] = "Opening the store",
    [BOXCAR_WORKER_RUNNING] = "Running",
    [BOXCAR_WORKER_DETACHED] = "The store cannot be used now, trying again",
    [BOXCAR_WORKER_STOPPING] = "Stopping, handlers may finish",
    [BOXCAR_WORKER_STOPPED] = "Stopped",
};

static uint64_t now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* A worker with little to do may have come and gone between two looks: what it did tells. */
static bool has_run(const boxcar_worker_stats *stats) {
    return stats->claims > 0 ||
           (stats->state >= BOXCAR_WORKER_RUNNING && stats->state <= BOXCAR_WORKER_STOPPING);
}

static void say_ready(struct service *service, const boxcar_worker_stats *stats) {
    if (service->is_ready || !has_run(stats))
        return;
    service->is_ready = true;
    sd_notify(0, "READY=1");
}

static void say_stopping(struct service *service, bool is_stopping) {
    if (service->is_stopping || !is_stopping)
        return;
    service->is_stopping = true;
    sd_notify(0, "STOPPING=1");
}

static void say_status(struct service *service, boxcar_worker_state state) {
    if (service->reported == state || state < BOXCAR_WORKER_IDLE || state > BOXCAR_WORKER_STOPPED)
        return;
    service->reported = state;
    sd_notifyf(0, "STATUS=%s", STATUSES[state]);
}

static void feed_watchdog(struct service *service, const boxcar_worker_stats *stats) {
    uint64_t now = now_us();
    if (service->ping_us == 0 || now - service->pinged_at_us < service->ping_us || !health_is_alive(stats))
        return;
    service->pinged_at_us = now;
    sd_notify(0, "WATCHDOG=1");
}

static void look(struct service *service) {
    boxcar_worker_stats stats = BOXCAR_WORKER_STATS_INIT;
    boxcar_worker_stats_read(service->worker, &stats);
    say_ready(service, &stats);
    say_status(service, stats.state);
    say_stopping(service, stats.state == BOXCAR_WORKER_STOPPING);
    feed_watchdog(service, &stats);
}

/* A quarter of the watchdog's time at most: half of it is when it wants to be fed. */
static struct timespec next_look(const struct service *service) {
    uint64_t pause = service->ping_us && service->ping_us / 2 < LOOK_US ? service->ping_us / 2 : LOOK_US;
    uint64_t at = now_us() + pause;
    return (struct timespec){.tv_sec = (time_t)(at / 1000000), .tv_nsec = (long)(at % 1000000) * 1000};
}

static void *watch(void *context) {
    struct service *service = context;
    pthread_mutex_lock(&service->lock);
    while (!service->ending) {
        struct timespec next = next_look(service);
        pthread_mutex_unlock(&service->lock);
        look(service);
        pthread_mutex_lock(&service->lock);
        while (!service->ending &&
               pthread_cond_timedwait(&service->changed, &service->lock, &next) != ETIMEDOUT)
            ;
    }
    pthread_mutex_unlock(&service->lock);
    return NULL;
}

static bool init(struct service *service) {
    pthread_condattr_t monotonic;
    if (pthread_mutex_init(&service->lock, NULL) != 0)
        return false;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    int failed = pthread_cond_init(&service->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (failed)
        pthread_mutex_destroy(&service->lock);
    return !failed;
}

static void release(struct service *service) {
    pthread_cond_destroy(&service->changed);
    pthread_mutex_destroy(&service->lock);
    free(service);
}

/* It takes no signals: those are for the thread that runs the worker. */
static bool start_thread(struct service *service) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int error = pthread_create(&service->thread, NULL, watch, service);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0;
}

int service_start(const struct cli *cli, boxcar_worker *worker, struct service **ret_service) {
    uint64_t watchdog_us = 0;
    *ret_service = NULL;
    if (!getenv("NOTIFY_SOCKET"))
        return CLI_DONE;
    struct service *service = calloc(1, sizeof(*service));
    if (!service || !init(service)) {
        free(service);
        return cli_no_memory(cli);
    }
    service->worker = worker;
    if (sd_watchdog_enabled(0, &watchdog_us) > 0)
        service->ping_us = watchdog_us / 2;
    if (!start_thread(service)) {
        release(service);
        return cli_fail(cli, CLI_ERROR, "no thread to keep the service manager informed");
    }
    *ret_service = service;
    return CLI_DONE;
}

/* MONOTONIC_USEC is for Type=notify-reload of systemd 253 and later; others do not mind. */
void service_reloading(struct service *service) {
    if (service)
        sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu", (unsigned long long)now_us());
}

void service_reloaded(struct service *service) {
    if (service)
        sd_notify(0, "READY=1");
}

void service_stop(struct service *service) {
    if (!service)
        return;
    pthread_mutex_lock(&service->lock);
    service->ending = true;
    pthread_cond_broadcast(&service->changed);
    pthread_mutex_unlock(&service->lock);
    pthread_join(service->thread, NULL);
    look(service);
    say_stopping(service, service->is_ready);
    release(service);
}
