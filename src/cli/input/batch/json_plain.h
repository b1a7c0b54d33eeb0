/* JSON that is certainly valid, found out in one pass: most payloads are. What is not plain may still be
 * valid; jansson decides about that. */
#ifndef BOXCAR_CLI_INPUT_BATCH_JSON_PLAIN_H
#define BOXCAR_CLI_INPUT_BATCH_JSON_PLAIN_H

#include <boxcar/types.h>

/* Copies the object or array at the beginning of `text` to `into`, without the blanks between tokens; `into`
 * has room for text.len bytes. Returns how many bytes of `text` it took, 0 = it is not plain: broken, with \u
 * escapes or exponents, deeply nested, with many members or one that comes twice. */
size_t json_plain_copy(boxcar_str text, char *into, size_t *ret_length);

#endif
