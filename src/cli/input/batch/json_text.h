/* The text of a value inside JSON, exactly as it was written. */
#ifndef BOXCAR_CLI_INPUT_BATCH_JSON_TEXT_H
#define BOXCAR_CLI_INPUT_BATCH_JSON_TEXT_H

#include <boxcar/types.h>

/* Where the value of the member `name` begins in the JSON object `text`; NULL = there is none. In a text that
 * is not valid it may be anywhere. */
const char *json_text_find(boxcar_str text, const char *name);
/* The member `name` of the JSON object in `text`, a part of it; data NULL = no such member. `text` must have
 * been found valid and its keys unique. Parsing and writing it again would turn 19.99 into 19.989999999999998
 * and round large integers. */
boxcar_str json_text_member(boxcar_str text, const char *name);
/* Copies it without the blanks between tokens to `into`, which has room for value.len bytes. Returns the
 * length. */
size_t json_text_compact(boxcar_str value, char *into);

#endif
