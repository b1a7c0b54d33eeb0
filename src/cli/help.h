/* Help, made from the table of commands. */
#ifndef BOXCAR_CLI_HELP_H
#define BOXCAR_CLI_HELP_H

#include "cli.h"

void help_overview(void);
void help_command(const struct command *command);

#endif
