/* The table of commands, and the help that is made from it. */
#ifndef BOXCAR_CLI_COMMAND_COMMANDS_H
#define BOXCAR_CLI_COMMAND_COMMANDS_H

#include "cli/cli.h"

/* The commands of one noun, in the order of the help. Its file defines NOUN_COMMANDS, and the list in
 * meson.build names the noun: there is no other place to register a command. */
struct command_noun {
    const char *section; /* the title above it in the overview; neighbours with the same one share it */
    const struct command *const *commands; /* ended by NULL */
};

/* The command with this number in the order of the help; NULL = there are no more. */
const struct command *command_at(size_t index);
/* The title of the section that begins with this command; NULL = none does. */
const char *command_section_begun_by(const struct command *command);

extern const struct command CMD_VERSION; /* --version runs it */

/* The command that a word names, inside `group` (NULL = at the top): "ls" in dead is "dead ls".
 * NULL = no such; the word and a suggestion have been reported. */
const struct command *command_find(const struct cli *cli, const struct command *group, const char *word);

/* Whether other commands begin with this one's name. */
bool command_is_group(const struct command *command);
/* Whether `member` is "GROUP something". */
bool command_is_in_group(const struct command *member, const struct command *group);
/* Complains that cli->command is a group, and names its commands. Returns CLI_USAGE. */
int command_without_member(const struct cli *cli);

void help_overview(void);
void help_command(const struct command *command);

#endif
