/* What the join commands have in common: their arguments, and joins as JSON. */
#ifndef BOXCAR_CLI_COMMAND_JOIN_JOIN_H
#define BOXCAR_CLI_COMMAND_JOIN_JOIN_H

#include "cli/command/common.h"

#define JOIN_MISSING "JOIN is missing: give the id that join start printed"

/* Prints the id alone, or {"join_id": ...}. Returns an enum cli_exit. */
int join_print_id(const struct cli *cli, boxcar_join_id join_id);

/* A join with the names of the view, and its reason. For a table, `for_people` adds "progress", what its
 * counters come to: "2 of 3, 1 failed". NULL = out of memory. */
json_t *join_json(const boxcar_join *join, bool for_people);

/* Each in a file of its own. */
extern const struct command CMD_JOIN_START, CMD_JOIN_ATTACH, CMD_JOIN_WAIT, CMD_JOIN_SHOW, CMD_JOIN_LS;

#endif
