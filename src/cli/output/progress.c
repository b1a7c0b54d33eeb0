#include "progress.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

/* How often it is drawn; before the first time nothing is seen. */
enum { DRAW_MS = 200 };

struct progress {
    struct log_writer *log;
    char text[64];
    _Atomic int64_t count; /* -1 = none is known */
    int64_t started_ms;
    bool is_over; /* under the lock */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
};

bool progress_is_wanted(void) {
    const char *terminal = getenv("TERM");
    return isatty(STDERR_FILENO) && !(terminal && strcmp(terminal, "dumb") == 0);
}

/* One write, so that a log line of another thread cannot come in between. */
void progress_draw(const char *format, ...) {
    char line[128] = PROGRESS_WIPE;
    size_t used = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + used, sizeof(line) - used, format, arguments);
    va_end(arguments);
    fputs(line, stderr);
}

void progress_wipe(void) { fputs(PROGRESS_WIPE, stderr); }

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void draw(const struct progress *progress) {
    int64_t count = progress->count;
    long long seconds = (long long)(now_ms() - progress->started_ms) / 1000;
    if (count < 0)
        progress_draw("%s, %lld s", progress->text, seconds);
    else
        progress_draw("%s: %lld, %lld s", progress->text, (long long)count, seconds);
}

static struct timespec next_time(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += DRAW_MS * 1000000L;
    at.tv_sec += at.tv_nsec / 1000000000L;
    at.tv_nsec %= 1000000000L;
    return at;
}

static void *draw_until_over(void *context) {
    struct progress *progress = context;
    pthread_mutex_lock(&progress->lock);
    while (!progress->is_over) {
        struct timespec at = next_time();
        if (pthread_cond_timedwait(&progress->wake, &progress->lock, &at) != 0)
            draw(progress);
    }
    pthread_mutex_unlock(&progress->lock);
    return NULL;
}

/* Signals are for the thread that works. */
static bool start_thread(struct progress *progress) {
    pthread_condattr_t attributes;
    sigset_t all, before;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&progress->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&progress->lock, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool good = pthread_create(&progress->thread, NULL, draw_until_over, progress) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return good;
}

static void release(struct progress *progress) {
    pthread_cond_destroy(&progress->wake);
    pthread_mutex_destroy(&progress->lock);
    free(progress);
}

struct progress *progress_begin(struct cli *cli, const char *text) {
    struct progress *progress = progress_is_wanted() ? calloc(1, sizeof(*progress)) : NULL;
    if (!progress)
        return NULL;
    snprintf(progress->text, sizeof(progress->text), "%s", text);
    progress->log = &cli->log;
    progress->count = -1;
    progress->started_ms = now_ms();
    cli->log.clears_line = true;
    if (start_thread(progress))
        return progress;
    cli->log.clears_line = false;
    release(progress);
    return NULL;
}

void progress_count(struct progress *progress, int64_t count) {
    if (progress)
        progress->count = count;
}

void progress_end(struct progress *progress) {
    if (!progress)
        return;
    pthread_mutex_lock(&progress->lock);
    progress->is_over = true;
    pthread_cond_signal(&progress->wake);
    pthread_mutex_unlock(&progress->lock);
    pthread_join(progress->thread, NULL);
    progress->log->clears_line = false;
    progress_wipe();
    release(progress);
}
