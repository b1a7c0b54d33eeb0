#include "progress.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "cli/cli.h"

/* How often it is drawn; before the first time nothing is seen. */
enum { DRAW_US = 200000 };

struct progress {
    struct log_writer *log;
    char text[64];
    _Atomic int64_t count; /* -1 = none is known */
    int64_t started_ms;
    pthread_t thread;
    struct monitor monitor;
    bool is_over; /* under its lock */
};

/* Whether a user may be watching: standard error is a terminal that can wipe a line. */
static bool is_wanted(void) {
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

static void draw(const struct progress *progress) {
    int64_t count = progress->count;
    long long seconds = (long long)(clock_ms() - progress->started_ms) / 1000;
    if (count < 0)
        progress_draw("%s, %lld s", progress->text, seconds);
    else
        progress_draw("%s: %lld, %lld s", progress->text, (long long)count, seconds);
}

static void *draw_until_over(void *context) {
    struct progress *progress = context;
    pthread_mutex_lock(&progress->monitor.lock);
    while (!progress->is_over)
        if (!monitor_wait(&progress->monitor, clock_us() + DRAW_US))
            draw(progress);
    pthread_mutex_unlock(&progress->monitor.lock);
    return NULL;
}

static void release(struct progress *progress) {
    progress->log->clears_line = false;
    monitor_destroy(&progress->monitor);
    free(progress);
}

struct progress *progress_begin(struct cli *cli, const char *text) {
    struct progress *progress = is_wanted() ? calloc(1, sizeof(*progress)) : NULL;
    if (!progress || !monitor_init(&progress->monitor)) {
        free(progress);
        return NULL;
    }
    snprintf(progress->text, sizeof(progress->text), "%s", text);
    progress->log = &cli->log;
    progress->count = -1;
    progress->started_ms = clock_ms();
    cli->log.clears_line = true;
    if (thread_start(&progress->thread, draw_until_over, progress) == 0)
        return progress;
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
    monitor_set(&progress->monitor, &progress->is_over);
    pthread_join(progress->thread, NULL);
    progress_wipe();
    release(progress);
}
