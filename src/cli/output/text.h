/* Text from a store or a command line, made safe for a terminal or a log line. */
#ifndef BOXCAR_CLI_OUTPUT_TEXT_H
#define BOXCAR_CLI_OUTPUT_TEXT_H

#include <boxcar/types.h>

/* A copy in one line of valid UTF-8: control characters and bytes that are not UTF-8 become
 * escapes (\n, \x1b). *ret_width (may be NULL) receives its length in characters. free() it;
 * NULL = out of memory. */
char *text_printable(boxcar_str text, size_t *ret_width);

/* The same, but newlines and other characters that a JSON writer escapes stay as they are. */
char *text_for_json(boxcar_str text);

#endif
