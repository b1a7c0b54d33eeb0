/* What a message carries, from the command line. */
#ifndef BOXCAR_CLI_INPUT_PAYLOAD_H
#define BOXCAR_CLI_INPUT_PAYLOAD_H

#include "cli/cli.h"

/* "-" reads standard input to its end, byte for byte, into *ret_read (free() it); any other word is the
 * payload. Returns an enum cli_exit and has reported what went wrong. */
int payload_read(const struct cli *cli, const char *word, char **ret_read, boxcar_str *ret_payload);

/* --header NAME=VALUE, any number of times. Makes a JSON object of what popt has collected (NULL = none was
 * given, *ret_headers is left alone), in *ret_text, which is the caller's to free(). On a bad one it has
 * reported it and returns false. */
bool headers_read(const struct cli *cli, char *const *given, boxcar_str *ret_headers, char **ret_text);

#endif
