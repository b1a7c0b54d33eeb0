/* The table of commands: one cmd_<name>.c each. */
#ifndef BOXCAR_CLI_COMMANDS_H
#define BOXCAR_CLI_COMMANDS_H

#include "cli.h"

extern const struct command CMD_INIT, CMD_ENQUEUE, CMD_CLAIM, CMD_ACK, CMD_ABANDON, CMD_DEFER, CMD_FAIL,
    CMD_RENEW, CMD_REAP, CMD_WORKER, CMD_CONFIG, CMD_SHOW, CMD_LS, CMD_STATS, CMD_DEAD, CMD_DEAD_LS,
    CMD_DEAD_SHOW, CMD_DEAD_REPLAY, CMD_DEAD_PURGE, CMD_JOIN, CMD_JOIN_START,
    CMD_JOIN_ATTACH, CMD_JOIN_COMPLETE, CMD_JOIN_FAIL, CMD_JOIN_WAIT, CMD_JOIN_CANCEL, CMD_JOIN_SHOW,
    CMD_JOIN_LS, CMD_INBOX, CMD_INBOX_ENQUEUE, CMD_INBOX_CHECK, CMD_INBOX_SHOW, CMD_INBOX_LS, CMD_INBOX_REVIVE,
    CMD_EVENT, CMD_EVENT_APPEND, CMD_EVENT_READ, CMD_EVENT_FOLLOW,
    CMD_STREAM, CMD_STREAM_LS, CMD_STREAM_SHOW, CMD_STREAM_RESUME, CMD_STREAM_SKIP, CMD_STREAM_POLICY,
    CMD_INSTANCE, CMD_INSTANCE_LS, CMD_CANCEL, CMD_MAINTAIN, CMD_DOCTOR, CMD_BENCH, CMD_SETTINGS, CMD_VERSION, CMD_HELP;

/* In the order of the help; ended by NULL. */
extern const struct command *const COMMANDS[];

/* The parts of the overview; ended by a NULL title. */
struct command_section {
    const char *title;
    const struct command *first; /* those after it belong here too, up to the next section */
};
extern const struct command_section COMMAND_SECTIONS[];

/* The command that a word names, inside `group` (NULL = at the top): "ls" in dead is "dead ls".
 * NULL = no such; the word and a suggestion have been reported. */
const struct command *command_find(const struct cli *cli, const struct command *group, const char *word);

/* Whether other commands begin with this one's name. */
bool command_is_group(const struct command *command);
/* Whether `member` is "GROUP something". */
bool command_is_in_group(const struct command *member, const struct command *group);

#endif
