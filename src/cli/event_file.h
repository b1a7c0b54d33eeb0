/* JSON Lines with one new event an object: what `event append --batch` reads. */
#ifndef BOXCAR_CLI_EVENT_FILE_H
#define BOXCAR_CLI_EVENT_FILE_H

#include <jansson.h>
#include <stdio.h>

#include "cli.h"

/* Everything of one file. Events borrow their text from `roots` and `texts`. */
struct event_file {
    boxcar_new_event *events;
    size_t *lines;  /* of each event, from 1 on */
    json_t **roots; /* the objects they were read from */
    char **texts;   /* two for each: its payload and its headers as compact JSON, or NULL */
    size_t count, capacity;
};

/* Reads the whole of `in`. Returns an enum cli_exit and has reported the line that is wrong. Release it in
 * any case. */
int event_file_read(const struct cli *cli, FILE *in, struct event_file *ret_file);
void event_file_release(struct event_file *file);

/* Reports an error of boxcar_event_append() by line. */
int event_file_fail(const struct cli *cli, const struct event_file *file, const boxcar_error *err);

#endif
