/* The end of what a program wrote to its standard error, made fit for last_error. Pure. */
#ifndef BOXCAR_WORKER_EXEC_TAIL_H
#define BOXCAR_WORKER_EXEC_TAIL_H

#include "base/buf.h"
#include "boxcar/message.h"

#define EXEC_TAIL_MAX BOXCAR_ERROR_TEXT_MAX

struct exec_tail {
    size_t len;
    bool cut; /* something before it was dropped */
    char bytes[2 * EXEC_TAIL_MAX];
};

/* Where up to EXEC_TAIL_MAX new bytes go; exec_tail_add() then says how many came. */
char *exec_tail_room(struct exec_tail *tail);
void exec_tail_add(struct exec_tail *tail, size_t len);

/* Appends the last max_bytes of it as text: whole characters, what is not UTF-8 replaced, no blanks at
 * the end. Out of memory is remembered by the buffer. */
void exec_tail_append_to(const struct exec_tail *tail, size_t max_bytes, struct buf *into);

#endif
