/* --header NAME=VALUE, any number of times. */
#ifndef BOXCAR_CLI_INPUT_HEADERS_H
#define BOXCAR_CLI_INPUT_HEADERS_H

#include "cli/cli.h"

/* Makes a JSON object of what popt has collected (NULL = none was given, *ret_headers is left alone), in
 * *ret_text, which is the caller's to free(). On a bad one it has reported it and returns false. */
bool headers_read(const struct cli *cli, char *const *given, boxcar_str *ret_headers, char **ret_text);

#endif
