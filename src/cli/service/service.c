#include "service.h"

#include <stdlib.h>
#include <systemd/sd-daemon.h>

#include "base/clock.h"
#include "base/thread.h"
#include "cli/output/report.h"
#include "health.h"

/* How soon a change is noticed. */
#define LOOK_US 200000

struct service {
    boxcar_worker *worker;
    pthread_t thread;
    struct monitor monitor;
    bool ending; /* under its lock */

    /* Of the thread, and of service_stop() when that is gone. */
    int64_t ping_us; /* how often the watchdog is fed; 0 = there is none */
    int64_t pinged_at_us;
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

/* A worker with little to do may have come and gone between two looks: what it did tells. */
static bool has_run(const boxcar_worker_stats *stats) {
    return stats->claims > 0 ||
           (stats->state >= BOXCAR_WORKER_RUNNING && stats->state <= BOXCAR_WORKER_STOPPING);
}

static void say_once(bool *is_said, bool is_so, const char *what) {
    if (*is_said || !is_so)
        return;
    *is_said = true;
    sd_notify(0, what);
}

static void say_status(struct service *service, boxcar_worker_state state) {
    if (service->reported == state || state < BOXCAR_WORKER_IDLE || state > BOXCAR_WORKER_STOPPED)
        return;
    service->reported = state;
    sd_notifyf(0, "STATUS=%s", STATUSES[state]);
}

static void feed_watchdog(struct service *service, const boxcar_worker_stats *stats) {
    int64_t now = clock_us();
    if (service->ping_us == 0 || now - service->pinged_at_us < service->ping_us || !health_is_alive(stats))
        return;
    service->pinged_at_us = now;
    sd_notify(0, "WATCHDOG=1");
}

static void look(struct service *service) {
    boxcar_worker_stats stats = BOXCAR_WORKER_STATS_INIT;
    boxcar_worker_stats_read(service->worker, &stats);
    say_once(&service->is_ready, has_run(&stats), "READY=1");
    say_status(service, stats.state);
    say_once(&service->is_stopping, stats.state == BOXCAR_WORKER_STOPPING, "STOPPING=1");
    feed_watchdog(service, &stats);
}

static void *watch(void *context) {
    struct service *service = context;
    /* A quarter of the watchdog's time at most: half of it is when it wants to be fed. */
    int64_t pause = service->ping_us && service->ping_us / 2 < LOOK_US ? service->ping_us / 2 : LOOK_US;
    pthread_mutex_lock(&service->monitor.lock);
    while (!service->ending) {
        int64_t next = clock_us() + pause;
        pthread_mutex_unlock(&service->monitor.lock);
        look(service);
        pthread_mutex_lock(&service->monitor.lock);
        while (!service->ending && monitor_wait(&service->monitor, next))
            ;
    }
    pthread_mutex_unlock(&service->monitor.lock);
    return NULL;
}

static void release(struct service *service) {
    monitor_destroy(&service->monitor);
    free(service);
}

int service_start(const struct cli *cli, boxcar_worker *worker, struct service **ret_service) {
    uint64_t watchdog_us = 0;
    *ret_service = NULL;
    if (!getenv("NOTIFY_SOCKET"))
        return CLI_DONE;
    struct service *service = calloc(1, sizeof(*service));
    if (!service || !monitor_init(&service->monitor)) {
        free(service);
        return cli_no_memory(cli);
    }
    service->worker = worker;
    if (sd_watchdog_enabled(0, &watchdog_us) > 0)
        service->ping_us = (int64_t)watchdog_us / 2;
    if (thread_start(&service->thread, watch, service) != 0) {
        release(service);
        return cli_fail(cli, CLI_ERROR, "no thread to keep the service manager informed");
    }
    *ret_service = service;
    return CLI_DONE;
}

/* MONOTONIC_USEC is for Type=notify-reload of systemd 253 and later; others do not mind. */
void service_reloading(struct service *service) {
    if (service)
        sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu", (unsigned long long)clock_us());
}

void service_reloaded(struct service *service) {
    if (service)
        sd_notify(0, "READY=1");
}

void service_stop(struct service *service) {
    if (!service)
        return;
    monitor_set(&service->monitor, &service->ending);
    pthread_join(service->thread, NULL);
    look(service);
    say_once(&service->is_stopping, service->is_ready, "STOPPING=1");
    release(service);
}
