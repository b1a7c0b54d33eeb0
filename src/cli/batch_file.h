/* JSON Lines with one new message an object: what `enqueue --batch` reads. */
#ifndef BOXCAR_CLI_BATCH_FILE_H
#define BOXCAR_CLI_BATCH_FILE_H

#include <jansson.h>
#include <stdio.h>

#include "cli.h"

/* Everything of one file. Messages borrow their text from `roots` and `texts`. */
struct batch_file {
    boxcar_new_message *messages;
    size_t *lines;  /* of each message, from 1 on */
    json_t **roots; /* the objects they were read from */
    char **texts;   /* two for each: its payload and its headers as compact JSON, or NULL */
    size_t count, capacity;
};

/* Reads the whole of `in` and counts messages in `progress`. Returns an enum cli_exit and has
 * reported the line that is wrong. Release it in any case. */
struct progress;
int batch_file_read(const struct cli *cli, FILE *in, struct progress *progress, struct batch_file *ret_file);
void batch_file_release(struct batch_file *file);

/* Reports an error of boxcar_enqueue_many() by line and by the name used in the file. */
int batch_file_fail(const struct cli *cli, const struct batch_file *file, const boxcar_error *err);

#endif
