/* The stores that a command works on: one, or many.
 *
 * Many are given by --store again and again, by --discover, or by [stores] and [fleet] of the configuration.
 * A single
 * --store that was typed means this one, whatever the configuration says. */
#ifndef BOXCAR_CLI_COMMAND_STORES_H
#define BOXCAR_CLI_COMMAND_STORES_H

#include "cli/cli.h"

bool stores_are_many(const struct cli *cli);

/* How the library is told about many stores. */
struct stores {
    boxcar_fleet_options options;
    boxcar_store_entry *entries; /* lent texts */
};

/* Fills in the list, and what the configuration says of a fleet. Returns an enum cli_exit and has reported
 * what is wrong. Release it in any case. */
int stores_read(const struct cli *cli, struct stores *ret_stores);
void stores_release(struct stores *stores);

/* The list as it is now, also of one store. Returns an enum cli_exit. */
int stores_list(struct cli *cli, boxcar_found_store_list **ret_list);

/* Opens each store in turn and calls `visit` with cli->store, and with cli->store_label if there are many.
 * Goes on after a store that fails, whose error was reported. Returns the first failure, or CLI_DONE. */
int stores_each(struct cli *cli, int (*visit)(struct cli *cli, void *context), void *context);

#endif
