/* UTF-8: validity and length in characters. */
#ifndef BOXCAR_BASE_UTF8_H
#define BOXCAR_BASE_UTF8_H

#include "boxcar/types.h"
#include "buf.h"

/* Well-formed UTF-8 (no surrogates, no overlong forms, at most U+10FFFF). NUL bytes count as
 * well-formed here; ask str_has_nul(). */
bool utf8_is_valid(boxcar_str text);
/* Characters (code points) in valid UTF-8. */
size_t utf8_length(boxcar_str text);
/* The longest prefix of at most max_bytes that ends between characters. */
boxcar_str utf8_cut(boxcar_str text, size_t max_bytes);
/* Takes off a character at the end whose last bytes are missing. */
boxcar_str utf8_cut_partial(boxcar_str text);
/* Bytes of the well-formed character at `data`; 0 = there is none. */
size_t utf8_char_size(const char *data, size_t len);
/* Appends at most max_bytes of text that came from anywhere: what is not UTF-8, and NUL bytes, become
 * U+FFFD. false = out of memory; the buffer is released then. */
bool utf8_repair(struct buf *into, boxcar_str text, size_t max_bytes);

bool str_has_nul(boxcar_str text);
bool str_equal(boxcar_str a, boxcar_str b); /* absent equals absent only */
bool str_starts_with(boxcar_str text, boxcar_str prefix);
/* By bytes, as memcmp() does; a text comes before all that begin with it. */
int str_compare(boxcar_str a, boxcar_str b);
/* For hash tables. */
uint32_t str_hash(boxcar_str text, uint32_t seed);
static inline bool str_is_absent(boxcar_str text) { return text.data == NULL; }
static inline bool str_is_empty(boxcar_str text) { return text.len == 0; }
static inline boxcar_str str_unless_empty(boxcar_str text) { return text.len > 0 ? text : BOXCAR_NO_STR; }

#endif
