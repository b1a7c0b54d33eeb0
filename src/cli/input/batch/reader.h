/* A file of new messages, read chunk by chunk on a thread of its own. */
#ifndef BOXCAR_CLI_INPUT_BATCH_READER_H
#define BOXCAR_CLI_INPUT_BATCH_READER_H

#include "cli/output/progress.h"
#include "json_lines.h"

struct batch_reader;

struct batch_chunk {
    struct batch_chunk *next;
    struct json_lines lines;
    boxcar_enqueued *enqueued; /* room for an answer each */
};

/* Begins to read. "-" is standard input; `progress` is told how many messages were read. Returns an enum
 * cli_exit and has reported why it cannot be read. */
int batch_reader_start(const struct cli *cli, const char *path, struct progress *progress,
                       struct batch_reader **ret_reader);
/* Ends the reading, wherever it is, and frees everything. NULL is fine. */
void batch_reader_free(struct batch_reader *reader);

/* Waits until something was read, or found to be wrong or at its end. Nothing is taken. */
void batch_reader_await(struct batch_reader *reader);
/* The next chunk, lent until the reader is freed; NULL = none came within wait_ms (-1 = as long as it takes),
 * or none follows. *ret_is_last: none follows, which a fault is not. */
const struct batch_chunk *batch_reader_take(struct batch_reader *reader, int64_t wait_ms, bool *ret_is_last);
/* What is wrong with the file, once all chunks before it were taken; NULL = nothing so far. */
const struct json_fault *batch_reader_fault(struct batch_reader *reader);

/* All chunks, once no more follow. */
const struct batch_chunk *batch_reader_chunks(struct batch_reader *reader);
size_t batch_reader_count(struct batch_reader *reader); /* of messages */

#endif
