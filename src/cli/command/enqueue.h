/* What enqueue and inbox enqueue have in common: storing, and saying what became of each message. */
#ifndef BOXCAR_CLI_COMMAND_ENQUEUE_H
#define BOXCAR_CLI_COMMAND_ENQUEUE_H

#include <jansson.h>

#include "cli/cli.h"

/* The box's own types, by functions: new messages, and what its calls say about each of them. */
struct enqueue_kind {
    boxcar_box box;
    boxcar_status (*store_one)(boxcar_store *store, const void *message, void *ret_enqueued, boxcar_error *err);
    boxcar_status (*store_many)(boxcar_store *store, const void *messages, size_t count, void *ret_enqueued,
                                boxcar_error *err); /* for enqueue_file() */
    size_t enqueued_size;
    size_t id_offset;        /* of the message id in it */
    size_t duplicate_offset; /* of the bool that says that nothing was stored */
    json_t *(*row)(const void *enqueued);
    const char *const *columns;
};

/* Each returns an enum cli_exit and has reported what went wrong. The file is read by batch_file_load(), then stored. */
int enqueue_one(struct cli *cli, const struct enqueue_kind *kind, const void *message);
int enqueue_file(struct cli *cli, const struct enqueue_kind *kind, const char *path);

/* What became of one message, or of a list of them: their ids, or rows if a format was asked for. */
int enqueue_print(const struct cli *cli, const struct enqueue_kind *kind, const void *enqueued, size_t count,
                  bool is_list);

#endif
