/* What show and ls have in common with other commands that show or list messages. */
#ifndef BOXCAR_CLI_COMMAND_MESSAGE_H
#define BOXCAR_CLI_COMMAND_MESSAGE_H

#include "cli/cli.h"

#define MESSAGE_ID_MISSING "ID is missing: give a work id or a message id"

/* show, dead show: prints the message that the first argument names, with payload and attempt history. With
 * `only_dead` any other than a dead letter counts as not found. */
int message_show(struct cli *cli, bool only_dead);

/* ls, inbox ls: prints a page of messages by the filter and by the options --topic, --limit and --after. */
int message_list(struct cli *cli, boxcar_message_filter *filter, const char *const *columns);

#endif
