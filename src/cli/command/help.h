/* Help, made from the table of commands. */
#ifndef BOXCAR_CLI_COMMAND_HELP_H
#define BOXCAR_CLI_COMMAND_HELP_H

#include "cli/cli.h"

void help_overview(void);
void help_command(const struct command *command);

/* Commands and options for programs, fields separated by tabs, one a line:
 *     command NAME SUMMARY
 *     option COMMAND --NAME -LETTER METAVAR CHOICES DESCRIPTION
 * A global option has no COMMAND, a flag no METAVAR; CHOICES are separated by blanks. */
void help_words(void);

#endif
