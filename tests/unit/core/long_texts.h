/* Texts of any length, of characters of one byte and of two. */
#ifndef BOXCAR_TESTS_LONG_TEXTS_H
#define BOXCAR_TESTS_LONG_TEXTS_H

#include <string.h>

#include "boxcar/types.h"

static char LONG_ASCII[1100]; /* 'a' repeated */
static char LONG_MULTI[2200]; /* a two-byte character repeated */

static inline int fill_long_texts(void **state) {
    (void)state;
    memset(LONG_ASCII, 'a', sizeof(LONG_ASCII));
    for (size_t i = 0; i < sizeof(LONG_MULTI); i += 2)
        memcpy(LONG_MULTI + i, "\xC3\xA9", 2);
    return 0;
}

static inline boxcar_str ascii(size_t characters) { return (boxcar_str){LONG_ASCII, characters}; }
static inline boxcar_str multi(size_t characters) { return (boxcar_str){LONG_MULTI, characters * 2}; }

#endif
