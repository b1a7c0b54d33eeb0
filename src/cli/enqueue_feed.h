/* enqueue --batch: messages are stored while the file is read. */
#ifndef BOXCAR_CLI_ENQUEUE_FEED_H
#define BOXCAR_CLI_ENQUEUE_FEED_H

#include "enqueue.h"

/* Returns an enum cli_exit and has reported what went wrong. `kind` is one of the outbox. */
int enqueue_feed(struct cli *cli, const struct enqueue_kind *kind, const char *path);

#endif
