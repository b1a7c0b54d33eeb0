#include "line_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

#define BLOCK_SIZE ((size_t)256 * 1024) /* read at once, and a first buffer */

void line_reader_release(struct line_reader *reader) {
    if (reader->fd != STDIN_FILENO)
        close(reader->fd);
    free(reader->buffer);
    *reader = (struct line_reader){.fd = STDIN_FILENO, .stop_fd = -1};
}

bool line_reader_open(struct line_reader *ret_reader, const char *path) {
    int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    *ret_reader =
        (struct line_reader){.fd = fd, .stop_fd = -1, .buffer = malloc(BLOCK_SIZE), .capacity = BLOCK_SIZE};
    if (ret_reader->buffer)
        return true;
    line_reader_release(ret_reader);
    errno = ENOMEM;
    return false;
}

/* Room behind what is in the buffer: it moves to the front, and if that is not enough, the buffer is made
 * twice as large. */
static bool make_room(struct line_reader *reader) {
    size_t held = reader->end - reader->start;
    memmove(reader->buffer, reader->buffer + reader->start, held);
    reader->start = 0;
    reader->end = held;
    if (reader->capacity - held >= BLOCK_SIZE / 2)
        return true;
    char *buffer = reallocarray(reader->buffer, reader->capacity, 2);
    if (!buffer) {
        errno = ENOMEM;
        return false;
    }
    reader->buffer = buffer;
    reader->capacity *= 2;
    return true;
}

/* LINE_READ: there is something to read, or the end. */
static enum line_state wait_for_input(const struct line_reader *reader) {
    struct pollfd fds[] = {{.fd = reader->fd, .events = POLLIN}, {.fd = reader->stop_fd, .events = POLLIN}};
    while (poll(fds, 2, -1) < 0)
        if (errno != EINTR)
            return LINE_FAILED;
    return fds[1].revents ? LINE_STOPPED : LINE_READ;
}

static enum line_state read_block(struct line_reader *reader) {
    if (!make_room(reader))
        return LINE_FAILED;
    for (;;) {
        TRY(wait_for_input(reader));
        ssize_t length = read(reader->fd, reader->buffer + reader->end, reader->capacity - reader->end);
        if (length >= 0) {
            reader->end += (size_t)length;
            reader->is_at_end = length == 0;
            return LINE_READ;
        }
        if (errno != EINTR && errno != EAGAIN)
            return LINE_FAILED;
    }
}

static boxcar_str give_out(struct line_reader *reader, size_t length) {
    boxcar_str line = {reader->buffer + reader->start, length};
    reader->start += length;
    reader->searched = 0;
    reader->number++;
    return line;
}

enum line_state line_reader_next(struct line_reader *reader, boxcar_str *ret_line) {
    for (;;) {
        const char *from = reader->buffer + reader->start;
        size_t held = reader->end - reader->start;
        const char *found =
            held > reader->searched ? memchr(from + reader->searched, '\n', held - reader->searched) : NULL;
        if (found || (reader->is_at_end && held > 0)) {
            *ret_line = give_out(reader, found ? (size_t)(found - from) + 1 : held);
            return LINE_READ;
        }
        if (reader->is_at_end)
            return LINE_END;
        reader->searched = held;
        TRY(read_block(reader));
    }
}
