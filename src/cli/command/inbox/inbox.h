/* What is in a file of its own. */
#ifndef BOXCAR_CLI_COMMAND_INBOX_INBOX_H
#define BOXCAR_CLI_COMMAND_INBOX_INBOX_H

extern const struct command CMD_INBOX_ENQUEUE; /* enqueue.c */

#endif
