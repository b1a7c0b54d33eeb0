/* What the join commands have in common: their arguments, and joins as JSON. */
#ifndef BOXCAR_CLI_COMMAND_JOIN_JOIN_H
#define BOXCAR_CLI_COMMAND_JOIN_JOIN_H

#include <jansson.h>

#include "cli/cli.h"

/* JOIN, which must be there. On a bad or missing one it has reported it and returns false. */
bool join_id_read(const struct cli *cli, const char *const *args, boxcar_join_id *ret_id);

/* complete and fail: reads JOIN and MESSAGE, reports the outcome, and prints whether the step was counted. */
int join_report(struct cli *cli, const char *const *args, boxcar_member_status outcome);

#define JOIN_REPORT_OUTPUT                                                                                   \
    "Handlers need not do this: the ack or the death of a message counts it. The first outcome of a step\n"  \
    "wins. Prints \"counted\" or \"not counted\"; with -o json {\"counted\": true}. A join or member that\n" \
    "does not exist gives exit status 3, a step that the join ended without 4.\n"

/* Prints the id alone, or {"join_id": ...}. Returns an enum cli_exit. */
int join_print_id(const struct cli *cli, boxcar_join_id join_id);

/* A join with the names of the view, and its reason. For a table, `for_people` adds "progress", what its
 * counters come to: "2 of 3, 1 failed". NULL = out of memory. */
json_t *join_json(const boxcar_join *join, bool for_people);
json_t *join_member_json(const boxcar_join_member *member);

/* Each in a file of its own. */
extern const struct command CMD_JOIN_START, CMD_JOIN_ATTACH, CMD_JOIN_WAIT, CMD_JOIN_SHOW, CMD_JOIN_LS;

#endif
