#include "enqueue_feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch_file.h"
#include "batch_reader.h"
#include "report.h"

struct feed {
    struct cli *cli;
    struct batch_reader *reader;
    struct progress *progress; /* of reading, then of storing */
};

static void show_storing(struct feed *feed) {
    char text[48];
    snprintf(text, sizeof(text), "storing %zu messages", batch_reader_count(feed->reader));
    progress_end(feed->progress);
    feed->progress = progress_begin(feed->cli, text);
}

/* A fault of the file ends the call; its text is the reader's. */
static boxcar_status next_chunk(void *context, int64_t wait_ms, boxcar_chunk *ret_chunk, boxcar_error *err) {
    struct feed *feed = context;
    const struct batch_chunk *chunk = batch_reader_take(feed->reader, wait_ms, &ret_chunk->is_last);
    if (!chunk && batch_reader_fault(feed->reader)) {
        err->status = BOXCAR_E_INVALID;
        return BOXCAR_E_INVALID;
    }
    if (ret_chunk->is_last)
        show_storing(feed);
    if (!chunk)
        return BOXCAR_OK;
    ret_chunk->messages = chunk->lines.items;
    ret_chunk->count = chunk->lines.count;
    ret_chunk->enqueued = chunk->enqueued;
    return BOXCAR_OK;
}

static int fail(const struct feed *feed, const boxcar_error *err) {
    const struct json_fault *fault = batch_reader_fault(feed->reader);
    const struct batch_chunk *chunk = batch_reader_chunks(feed->reader);
    size_t index;
    if (!json_lines_index_of(err, &index))
        return fault ? cli_fail(feed->cli, fault->exit, "%s", fault->text) : cli_fail_with(feed->cli, err);
    for (; chunk && index >= chunk->lines.count; chunk = chunk->next)
        index -= chunk->lines.count;
    return chunk ? json_lines_fail_at(feed->cli, &chunk->lines, index, err) : cli_fail_with(feed->cli, err);
}

static int print_all(const struct feed *feed, const struct enqueue_kind *kind) {
    boxcar_enqueued *all = calloc(batch_reader_count(feed->reader) + 1, sizeof(*all));
    size_t count = 0;
    if (!all)
        return cli_no_memory(feed->cli);
    for (const struct batch_chunk *chunk = batch_reader_chunks(feed->reader); chunk; chunk = chunk->next) {
        memcpy(all + count, chunk->enqueued, chunk->lines.count * sizeof(*all));
        count += chunk->lines.count;
    }
    int result = enqueue_print(feed->cli, kind, all, count, true);
    free(all);
    return result;
}

/* A small file is found to be good before the store is opened. */
static int store_all(struct feed *feed, const struct enqueue_kind *kind) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    batch_reader_await(feed->reader);
    if (batch_reader_fault(feed->reader))
        return fail(feed, &err);
    int result = cli_store_open(feed->cli);
    if (result != CLI_DONE)
        return result;
    boxcar_status status = boxcar_enqueue_feed(feed->cli->store, next_chunk, feed, &err);
    if (status != BOXCAR_OK)
        return fail(feed, &err);
    progress_end(feed->progress);
    feed->progress = NULL;
    return print_all(feed, kind);
}

int enqueue_feed(struct cli *cli, const struct enqueue_kind *kind, const char *path) {
    struct feed feed = {.cli = cli, .progress = progress_begin(cli, batch_file_kind(kind->box)->doing)};
    int result = batch_reader_start(cli, path, feed.progress, &feed.reader);
    if (result == CLI_DONE)
        result = store_all(&feed, kind);
    batch_reader_free(feed.reader); /* it tells the progress */
    progress_end(feed.progress);
    return result;
}
