/* Payloads on the command line: the word itself, or standard input. */
#ifndef BOXCAR_CLI_INPUT_PAYLOAD_H
#define BOXCAR_CLI_INPUT_PAYLOAD_H

#include "cli/cli.h"

/* "-" reads standard input to its end, byte for byte, into *ret_read (free() it); any other word is the
 * payload. Returns an enum cli_exit and has reported what went wrong. */
int payload_read(const struct cli *cli, const char *word, char **ret_read, boxcar_str *ret_payload);

#endif
