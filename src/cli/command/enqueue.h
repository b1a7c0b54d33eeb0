/* What enqueue and inbox enqueue have in common: storing, and saying what became of each message. */
#ifndef BOXCAR_CLI_COMMAND_ENQUEUE_H
#define BOXCAR_CLI_COMMAND_ENQUEUE_H

#include <jansson.h>

#include "cli/cli.h"

/* What differs between the boxes. */
struct enqueue_kind {
    boxcar_box box;
    json_t *(*row)(const boxcar_enqueued *enqueued);
    const char *const *columns;
};

/* Each returns an enum cli_exit and has reported what went wrong. The file is read by batch_file_load(), then
 * stored. */
int enqueue_one(struct cli *cli, const struct enqueue_kind *kind, const boxcar_new_message *message);
int enqueue_file(struct cli *cli, const struct enqueue_kind *kind, const char *path);

#endif
