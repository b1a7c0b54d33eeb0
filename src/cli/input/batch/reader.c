#include "reader.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/thread.h"
#include "cli/output/report.h"
#include "message_file.h"

/* A chunk is full when it has this many messages or this much text. */
#define CHUNK_MESSAGES ((size_t)1000)
#define CHUNK_BYTES ((size_t)1024 * 1024)

struct batch_reader {
    struct progress *progress;
    struct line_reader in;     /* the thread's, until it is joined */
    struct batch_chunk *chunk; /* that it fills */
    _Atomic bool is_stopped;
    pthread_t thread;
    struct monitor monitor; /* of what follows */
    struct batch_chunk *first, *last, *untaken;
    size_t count; /* of messages; the thread, which alone changes it, reads it without the lock */
    bool is_over;
    struct json_fault fault;
};

/* ---- the thread ---- */

static void chunk_free(struct batch_chunk *chunk) {
    if (!chunk)
        return;
    json_lines_release(&chunk->lines);
    free(chunk->enqueued);
    free(chunk);
}

static struct batch_chunk *chunk_new(void) {
    struct batch_chunk *chunk = calloc(1, sizeof(*chunk));
    if (!chunk)
        return NULL;
    chunk->lines.kind = batch_file_kind(BOXCAR_OUTBOX);
    chunk->enqueued = calloc(CHUNK_MESSAGES, sizeof(*chunk->enqueued));
    if (chunk->enqueued)
        return chunk;
    chunk_free(chunk);
    return NULL;
}

static bool is_full(const struct batch_chunk *chunk) {
    return chunk->lines.count == CHUNK_MESSAGES || chunk->lines.texts.size >= CHUNK_BYTES;
}

/* Hands the chunk over, or what ends the reading: a chunk with a fault in it is not for storing. */
static void publish(struct batch_reader *reader, bool is_over, const struct json_fault *fault) {
    struct batch_chunk *chunk = fault->exit == CLI_DONE ? reader->chunk : NULL;
    pthread_mutex_lock(&reader->monitor.lock);
    if (chunk && chunk->lines.count > 0) {
        *(reader->last ? &reader->last->next : &reader->first) = chunk;
        reader->last = chunk;
        reader->untaken = reader->untaken ? reader->untaken : chunk;
        reader->count += chunk->lines.count;
        reader->chunk = NULL;
    }
    reader->fault = *fault;
    reader->is_over = is_over;
    pthread_cond_signal(&reader->monitor.changed);
    pthread_mutex_unlock(&reader->monitor.lock);
}

/* false = the end, of whatever kind. */
static bool read_line(struct batch_reader *reader, struct json_fault *ret_fault) {
    if (!reader->chunk && !(reader->chunk = chunk_new()))
        return json_fault_no_memory(ret_fault);
    if (!json_lines_read(&reader->chunk->lines, &reader->in, ret_fault))
        return false;
    progress_count(reader->progress, (int64_t)(reader->count + reader->chunk->lines.count));
    return true;
}

static void *read_all(void *context) {
    struct batch_reader *reader = context;
    struct json_fault fault = {.exit = CLI_DONE};
    while (!reader->is_stopped && read_line(reader, &fault))
        if (is_full(reader->chunk))
            publish(reader, false, &fault);
    publish(reader, true, &fault);
    return NULL;
}

/* ---- the thread that takes chunks ---- */

static void release(struct batch_reader *reader) {
    for (struct batch_chunk *chunk = reader->first, *next; chunk; chunk = next) {
        next = chunk->next;
        chunk_free(chunk);
    }
    chunk_free(reader->chunk);
    if (reader->in.stop_fd >= 0)
        close(reader->in.stop_fd);
    line_reader_release(&reader->in);
    monitor_destroy(&reader->monitor);
    free(reader);
}

static int start(const struct cli *cli, struct batch_reader *reader, const char *path) {
    TRY(json_lines_open(cli, path, &reader->in));
    reader->in.stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int error = reader->in.stop_fd < 0 ? errno : thread_start(&reader->thread, read_all, reader);
    return error == 0 ? CLI_DONE : cli_fail(cli, CLI_ERROR, "cannot read the batch: %s", strerror(error));
}

int batch_reader_start(const struct cli *cli, const char *path, struct progress *progress,
                       struct batch_reader **ret_reader) {
    struct batch_reader *reader = calloc(1, sizeof(*reader));
    if (!reader || !monitor_init(&reader->monitor)) {
        free(reader);
        return cli_no_memory(cli);
    }
    reader->progress = progress;
    reader->in = (struct line_reader){.fd = STDIN_FILENO, .stop_fd = -1};
    int result = start(cli, reader, path);
    if (result == CLI_DONE)
        *ret_reader = reader;
    else
        release(reader);
    return result;
}

void batch_reader_free(struct batch_reader *reader) {
    if (!reader)
        return;
    reader->is_stopped = true;
    (void)eventfd_write(reader->in.stop_fd, 1); /* cannot fail: nobody else writes */
    pthread_join(reader->thread, NULL);
    release(reader);
}

/* Under the lock. */
static void await(struct batch_reader *reader, int64_t wait_ms) {
    int64_t end_us = wait_ms < 0 ? INT64_MAX : clock_us() + wait_ms * 1000;
    while (!reader->untaken && !reader->is_over && monitor_wait(&reader->monitor, end_us))
        ;
}

void batch_reader_await(struct batch_reader *reader) {
    pthread_mutex_lock(&reader->monitor.lock);
    await(reader, -1);
    pthread_mutex_unlock(&reader->monitor.lock);
}

const struct batch_chunk *batch_reader_take(struct batch_reader *reader, int64_t wait_ms, bool *ret_is_last) {
    pthread_mutex_lock(&reader->monitor.lock);
    await(reader, wait_ms);
    struct batch_chunk *chunk = reader->untaken;
    reader->untaken = chunk ? chunk->next : NULL;
    *ret_is_last = reader->is_over && !reader->untaken && reader->fault.exit == CLI_DONE;
    pthread_mutex_unlock(&reader->monitor.lock);
    return chunk;
}

const struct json_fault *batch_reader_fault(struct batch_reader *reader) {
    pthread_mutex_lock(&reader->monitor.lock);
    bool is_met = !reader->untaken && reader->fault.exit != CLI_DONE;
    pthread_mutex_unlock(&reader->monitor.lock);
    return is_met ? &reader->fault : NULL; /* the last that the thread writes */
}

const struct batch_chunk *batch_reader_chunks(struct batch_reader *reader) { return reader->first; }

size_t batch_reader_count(struct batch_reader *reader) { return reader->count; }
