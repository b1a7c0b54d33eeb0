/* JSON as it was written. Parsing it and writing it again would turn 19.99 into 19.989999999999998 and round
 * large integers. */
#ifndef BOXCAR_CLI_INPUT_BATCH_JSON_TEXT_H
#define BOXCAR_CLI_INPUT_BATCH_JSON_TEXT_H

#include <boxcar/types.h>

/* Where the value of the member `name` begins in the JSON object `text`; NULL = there is none. In a text that
 * is not valid it may be anywhere. */
const char *json_text_find(boxcar_str text, const char *name);
/* The member `name` of the JSON object in `text`, a part of it; data NULL = no such member. `text` must have
 * been found valid and its keys unique. */
boxcar_str json_text_member(boxcar_str text, const char *name);
/* Copies it without the blanks between tokens to `into`, which has room for value.len bytes. Returns the
 * length. */
size_t json_text_compact(boxcar_str value, char *into);

/* The same in one pass for JSON that is certainly valid, as most payloads are. What is not plain may still be
 * valid; jansson decides about that. Copies the object or array at the beginning of `text` to `into`, which
 * has room for text.len bytes. Returns how many bytes of `text` it took, 0 = it is not plain: broken, with \u
 * escapes or exponents, deeply nested, with many members or one that comes twice. */
size_t json_plain_copy(boxcar_str text, char *into, size_t *ret_length);

#endif
