/* What the inbox commands have in common. */
#ifndef BOXCAR_CLI_COMMAND_INBOX_INBOX_H
#define BOXCAR_CLI_COMMAND_INBOX_INBOX_H

#include "cli/cli.h"

/* SOURCE and ID, both of which must be there. On a missing one it has reported it and returns false. */
bool inbox_key_read(const struct cli *cli, const char *const *args, boxcar_inbox_key *ret_key);
/* SOURCE ID, or one id of the message: a work id or a message id. `key` is filled only in the first case. */
bool inbox_ref_read(struct cli *cli, const char *const *args, boxcar_message_ref *ret_ref,
                    boxcar_inbox_key *ret_key);

extern const struct command CMD_INBOX_ENQUEUE; /* enqueue.c */

#endif
