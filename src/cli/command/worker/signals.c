/* A thread that handles signals and draws the progress line. */
#include <signal.h>
#include <string.h>
#include <time.h>

#include "cli/output/progress.h"
#include "cli/output/report.h"
#include "cli/service/stop.h"
#include "session.h"

/* How often progress is drawn, and how long a worker that was told twice to stop may take. */
enum { PROGRESS_MS = 200, LAST_GRACE_MS = 5000 };

struct watch {
    struct worker_session *session;
    int stops;
    int64_t stopped_ms;              /* when the last signal came that counted */
    int64_t started_ms, deadline_ms; /* the latter after the second signal */
};

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static sigset_t our_signals(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    return signals;
}

/* Messages that came to an end in handlers. The log writer wipes the line away before it writes. */
static void draw_progress(const struct watch *watch) {
    boxcar_handler_stats stats = BOXCAR_HANDLER_STATS_INIT;
    int64_t done = 0, spent_ms = now_ms() - watch->started_ms;
    for (size_t i = 0; boxcar_worker_handler_stats_read(watch->session->worker, i, &stats); i++)
        done += stats.acked + stats.failed + stats.dead;
    progress_draw("%lld done, %lld/s", (long long)done,
                  (long long)(spent_ms > 0 ? done * 1000 / spent_ms : 0));
}

/* As if there had been no handler: the exit status tells. */
static void die(int signal_number) {
    sigset_t signals = our_signals();
    signal(signal_number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
    raise(signal_number);
}

static void stop(struct watch *watch, int signal_number) {
    const boxcar_log_field field = {"signal", boxcar_str_of(sigabbrev_np(signal_number))};
    if (watch->stops > 0 && now_ms() - watch->stopped_ms < STOP_ECHO_MS)
        return;
    watch->stopped_ms = now_ms();
    watch->stops++;
    if (watch->stops > 2)
        die(signal_number);
    worker_session_log(watch->session, BOXCAR_LOG_INFO, "signal",
                       watch->stops == 1 ? "handlers may finish within the grace time"
                                         : "told again: handlers are cancelled",
                       &field, 1);
    boxcar_worker_stop(watch->session->worker);
    if (watch->stops == 2)
        watch->deadline_ms = now_ms() + LAST_GRACE_MS;
}

static struct timespec next_look(const struct watch *watch) {
    bool often = watch->session->shows_progress || watch->deadline_ms;
    return (struct timespec){.tv_sec = often ? 0 : 3600, .tv_nsec = often ? PROGRESS_MS * 1000000L : 0};
}

static void look(struct watch *watch) {
    if (watch->deadline_ms && now_ms() > watch->deadline_ms)
        die(SIGTERM);
    if (watch->session->shows_progress)
        draw_progress(watch);
}

/* Waits for signals until the worker is over; worker_signals_end() sends one to wake it up. */
static void *wait_for_signals(void *context) {
    struct watch watch = {.session = context, .started_ms = now_ms()};
    sigset_t signals = our_signals();
    while (!watch.session->is_over) {
        struct timespec timeout = next_look(&watch);
        int signal_number = sigtimedwait(&signals, NULL, &timeout);
        if (watch.session->is_over)
            break;
        if (signal_number == SIGHUP)
            worker_reload(watch.session);
        else if (signal_number > 0)
            stop(&watch, signal_number);
        else
            look(&watch);
    }
    if (watch.session->shows_progress)
        progress_wipe();
    return NULL;
}

void worker_signals_block(void) {
    sigset_t signals = our_signals();
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

int worker_signals_begin(struct worker_session *session) {
    session->is_over = false;
    int error = pthread_create(&session->thread, NULL, wait_for_signals, session);
    return error ? cli_fail(session->cli, CLI_ERROR, "cannot start a thread: %s", strerror(error)) : CLI_DONE;
}

void worker_signals_end(struct worker_session *session) {
    session->is_over = true;
    pthread_kill(session->thread, SIGHUP);
    pthread_join(session->thread, NULL);
}
