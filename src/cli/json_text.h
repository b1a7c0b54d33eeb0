/* The text of a value inside JSON, exactly as it was written. */
#ifndef BOXCAR_CLI_JSON_TEXT_H
#define BOXCAR_CLI_JSON_TEXT_H

#include <boxcar/types.h>

/* The member `name` of the JSON object in `text`, without the blanks between tokens; free()
 * it. `text` must have been found valid and its keys unique. Parsing and writing it again
 * would turn 19.99 into 19.989999999999998 and round large integers. NULL = no such member, or
 * out of memory. */
char *json_text_member(boxcar_str text, const char *name, size_t *ret_length);

#endif
