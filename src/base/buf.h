/* A growing byte buffer that remembers failure: append freely, check once at the end. */
#ifndef BOXCAR_BASE_BUF_H
#define BOXCAR_BASE_BUF_H

#include "boxcar/types.h"

struct buf {
    char *data; /* NUL-terminated whenever not NULL */
    size_t len;
    size_t capacity;
    bool failed; /* out of memory at some point; everything later was ignored */
};

#define BUF_INIT ((struct buf){.data = NULL})

void buf_append(struct buf *buf, const void *bytes, size_t len);
void buf_append_str(struct buf *buf, boxcar_str text);
void buf_append_text(struct buf *buf, const char *text); /* NUL-terminated */
void buf_append_char(struct buf *buf, char c);
void buf_append_format(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Big-endian numbers, as PostgreSQL's binary formats want them. */
void buf_append_u16(struct buf *buf, uint16_t value);
void buf_append_u32(struct buf *buf, uint32_t value);
void buf_append_u64(struct buf *buf, uint64_t value);
bool buf_reserve(struct buf *buf, size_t extra);
void buf_release(struct buf *buf); /* empty, memory freed */

#endif
