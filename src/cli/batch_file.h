/* JSON Lines with one new message an object: what `enqueue --batch` and `inbox enqueue --batch` read. */
#ifndef BOXCAR_CLI_BATCH_FILE_H
#define BOXCAR_CLI_BATCH_FILE_H

#include <jansson.h>

#include "cli.h"

/* What a message of the inbox has besides. */
struct batch_key {
    boxcar_str source, external_id, content_hash;
};

/* Everything of one file. Messages borrow their text from `roots` and `texts`. */
struct batch_file {
    boxcar_box box;
    boxcar_new_message *messages;
    struct batch_key *keys; /* of each message; absent in the outbox */
    size_t *lines;  /* of each message, from 1 on */
    json_t **roots; /* the objects they were read from */
    char **texts;   /* two for each: its payload and its headers as compact JSON, or NULL */
    size_t count, capacity;
};

/* Reads the whole file; "-" is standard input. Returns an enum cli_exit and has reported the line that is wrong.
 * Release it in any case. */
int batch_file_load(struct cli *cli, const char *path, boxcar_box box, struct batch_file *ret_file);
void batch_file_release(struct batch_file *file);

/* Reports an error of boxcar_enqueue_many() or its sibling by line and by the name used in the file. */
int batch_file_fail(const struct cli *cli, const struct batch_file *file, const boxcar_error *err);

#endif
