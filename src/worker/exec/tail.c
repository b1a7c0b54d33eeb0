#include "child.h"

#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"

char *exec_tail_room(struct exec_tail *tail) { return tail->bytes + tail->len; }

void exec_tail_add(struct exec_tail *tail, size_t len) {
    tail->len += len;
    if (tail->len <= EXEC_TAIL_MAX)
        return;
    size_t surplus = tail->len - EXEC_TAIL_MAX;
    memmove(tail->bytes, tail->bytes + surplus, EXEC_TAIL_MAX);
    tail->len = EXEC_TAIL_MAX;
    tail->cut = true;
}

/* Removes the rest of a character that was cut at the beginning: at most three bytes. */
static boxcar_str without_partial_start(boxcar_str text) {
    for (int i = 0; i < 3 && text.len > 0 && (text.data[0] & 0xC0) == 0x80; i++)
        text = (boxcar_str){text.data + 1, text.len - 1};
    return text;
}

static boxcar_str without_blank_end(boxcar_str text) {
    while (text.len > 0 && strchr(" \t\r\n", text.data[text.len - 1]) && text.data[text.len - 1] != '\0')
        text.len--;
    return text;
}

/* Of valid UTF-8. */
static boxcar_str last_bytes(boxcar_str text, size_t max_bytes) {
    if (text.len <= max_bytes)
        return text;
    return without_partial_start((boxcar_str){text.data + text.len - max_bytes, max_bytes});
}

void exec_tail_append_to(const struct exec_tail *tail, size_t max_bytes, struct buf *into) {
    AUTO_BUF struct buf repaired = BUF_INIT;
    boxcar_str text = without_blank_end((boxcar_str){tail->bytes, tail->len});
    if (tail->cut)
        text = without_partial_start(text);
    /* Replacing makes it longer, and it is the end that counts: first replace, then cut. */
    if (!utf8_repair(&repaired, text, SIZE_MAX)) {
        into->failed = true;
        return;
    }
    buf_append_str(into, last_bytes((boxcar_str){repaired.data, repaired.len}, max_bytes));
}
